#!/usr/bin/env python3
"""Writes one flow, (-y + t/10, x, 0.2), by other programs in the formats that hold a whole recording.

    scripts/flow_formats.py DIR

Needs vtk, h5py and meshio. Files of VTKHDF and EnSight are VTK's, those of XDMF meshio's; images of VTKHDF, which VTK does
not write, are made with h5py. `SUPPLE_FLOW_FORMATS=DIR cargo test -p supple --test flow_files` reads them all.
"""

import os
import pathlib
import sys

import h5py
import meshio
import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk
from vtk.util.vtkAlgorithm import VTKPythonAlgorithmBase

TIMES = [0.0, 0.5, 1.25]
SIZE = (4, 3, 3)
POINTS = np.array([(x, y, z) for z in range(SIZE[2]) for y in range(SIZE[1]) for x in range(SIZE[0])], float)
CORNERS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]


def velocity(t):
    x, y, _ = POINTS.T
    return np.stack([0.1 * t - y, x, np.full_like(x, 0.2)], axis=1)


def hexahedra():
    nx, ny, nz = SIZE
    name = lambda x, y, z: (z * ny + y) * nx + x
    cells = [(x, y, z) for z in range(nz - 1) for y in range(ny - 1) for x in range(nx - 1)]
    return np.array([[name(x + i, y + j, z + k) for i, j, k in CORNERS] for x, y, z in cells])


def grid(t):
    made = vtk.vtkUnstructuredGrid()
    places = vtk.vtkPoints()
    places.SetDataTypeToDouble()
    for p in POINTS:
        places.InsertNextPoint(*p)
    made.SetPoints(places)
    for k, cell in enumerate(hexahedra()):
        if k % 2 == 0:
            made.InsertNextCell(vtk.VTK_HEXAHEDRON, 8, list(cell))
            continue
        for tet in [(0, 1, 3, 4), (1, 2, 3, 6), (1, 4, 5, 6), (3, 4, 6, 7), (1, 3, 4, 6)]:
            made.InsertNextCell(vtk.VTK_TETRA, 4, [cell[c] for c in tet])
    array = numpy_to_vtk(velocity(t).astype("f4"), deep=True)
    array.SetName("velocity")
    made.GetPointData().AddArray(array)
    return made


class Series(VTKPythonAlgorithmBase):
    """The grid at the times that are asked for."""

    def __init__(self):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkUnstructuredGrid")

    def RequestInformation(self, request, inputs, outputs):
        keys, info = vtk.vtkStreamingDemandDrivenPipeline, outputs.GetInformationObject(0)
        for t in TIMES:
            info.Append(keys.TIME_STEPS(), t)
        for t in [TIMES[0], TIMES[-1]]:
            info.Append(keys.TIME_RANGE(), t)
        return 1

    def RequestData(self, request, inputs, outputs):
        key, info = vtk.vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP(), outputs.GetInformationObject(0)
        t = info.Get(key) if info.Has(key) else TIMES[0]
        output = vtk.vtkUnstructuredGrid.GetData(outputs)
        output.ShallowCopy(grid(t))
        output.GetInformation().Set(output.DATA_TIME_STEP(), t)
        return 1


def vtkhdf(folder):
    writer = vtk.vtkHDFWriter()
    writer.SetFileName(str(folder / "mesh.vtkhdf"))
    writer.SetInputData(grid(0.0))
    writer.Write()
    series = Series()
    writer = vtk.vtkHDFWriter()
    writer.SetFileName(str(folder / "meshes.vtkhdf"))
    writer.SetInputConnection(series.GetOutputPort())
    writer.SetWriteAllTimeSteps(True)
    writer.Write()
    nx, ny, nz = SIZE
    for name, times in [("image.vtkhdf", None), ("images.vtkhdf", TIMES)]:
        with h5py.File(folder / name, "w", libver="latest") as file:
            root = file.create_group("VTKHDF")
            root.attrs["Version"] = np.array([2, 0], "i8")
            root.attrs.create("Type", b"ImageData", dtype=h5py.string_dtype("ascii", 9))
            root.attrs["WholeExtent"] = np.array([0, nx - 1, 0, ny - 1, 0, nz - 1], "i8")
            root.attrs["Origin"], root.attrs["Spacing"] = np.zeros(3), np.ones(3)
            values = [velocity(t).reshape(nz, ny, nx, 3).astype("f4") for t in times or [0.0]]
            data = np.stack(values) if times else values[0]
            root.create_group("PointData").create_dataset("velocity", data=data, compression="gzip")
            if times:
                steps = root.create_group("Steps")
                steps.attrs["NSteps"] = len(times)
                steps["Values"] = np.array(times)


def xdmf(folder):
    cells = [("hexahedron", hexahedra())]
    mesh = meshio.Mesh(POINTS, cells, point_data={"velocity": velocity(0.0)})
    for kind in ["XML", "HDF", "Binary"]:
        meshio.xdmf.write(str(folder / f"{kind.lower()}.xdmf"), mesh, data_format=kind)
    tet = np.array([[0, 1, 4, 12]])
    mixed = meshio.Mesh(POINTS, [*cells, ("tetra", tet)], point_data={"velocity": velocity(0.0)})
    meshio.xdmf.write(str(folder / "mixed.xdmf"), mixed)
    with meshio.xdmf.TimeSeriesWriter(str(folder / "series.xdmf")) as writer:
        writer.write_points_cells(POINTS, cells)
        for t in TIMES:
            writer.write_data(t, point_data={"velocity": velocity(t)})


def ensight(folder):
    made = grid(0.0)
    blocks = numpy_to_vtk(np.ones(made.GetNumberOfCells(), "i4"), deep=True)
    blocks.SetName("BlockId")
    made.GetCellData().AddArray(blocks)
    writer = vtk.vtkEnSightWriter()
    writer.SetFileName(str(folder / "flow"))
    writer.SetPath(str(folder))
    writer.SetBaseName("flow")
    writer.SetInputData(made)
    writer.Write()
    writer.WriteCaseFile(1)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    vtkhdf(folder)
    # meshio names the files beside a document as they were given: from within the folder.
    os.chdir(folder)
    xdmf(pathlib.Path("."))
    ensight(pathlib.Path("."))


if __name__ == "__main__":
    main()
