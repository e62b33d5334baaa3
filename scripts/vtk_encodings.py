#!/usr/bin/env python3
"""Writes small grids with VTK in every encoding it has, for tests/flow_files.rs.

    python3 -m venv /tmp/vtk && /tmp/vtk/bin/pip install vtk
    /tmp/vtk/bin/python scripts/vtk_encodings.py /tmp/encodings
    SUPPLE_VTK_ENCODINGS=/tmp/encodings cargo test -p supple --test flow_files encodings

The velocity at point i is (i, 2 i, 0.5 - i); `p` of cell c is c * c.
"""
import itertools
import os
import sys

import vtk

POINTS = (7, 6, 5)


def with_arrays(grid):
    velocity = vtk.vtkDoubleArray()
    velocity.SetName("velocity")
    velocity.SetNumberOfComponents(3)
    for i in range(grid.GetNumberOfPoints()):
        velocity.InsertNextTuple3(i, 2 * i, 0.5 - i)
    grid.GetPointData().SetVectors(velocity)
    pressure = vtk.vtkFloatArray()
    pressure.SetName("p")
    for c in range(grid.GetNumberOfCells()):
        pressure.InsertNextValue(c * c)
    grid.GetCellData().SetScalars(pressure)
    time = vtk.vtkDoubleArray()
    time.SetName("TimeValue")
    time.InsertNextValue(2.5)
    grid.GetFieldData().AddArray(time)
    return grid


def image():
    grid = vtk.vtkImageData()
    grid.SetExtent(3, 9, -2, 3, 0, 4)
    grid.SetOrigin(1, 2, 3)
    grid.SetSpacing(0.5, 0.25, 2)
    return with_arrays(grid)


def rectilinear():
    grid = vtk.vtkRectilinearGrid()
    grid.SetDimensions(*POINTS)
    for axis, n in zip("XYZ", POINTS):
        array = vtk.vtkDoubleArray()
        for k in range(n):
            array.InsertNextValue(k * k)
        getattr(grid, f"Set{axis}Coordinates")(array)
    return with_arrays(grid)


def curvilinear():
    grid = vtk.vtkStructuredGrid()
    grid.SetDimensions(*POINTS)
    points = vtk.vtkPoints()
    for k, j, i in itertools.product(*(range(n) for n in reversed(POINTS))):
        points.InsertNextPoint(i + 0.1 * j, j + 0.1 * k, k + 0.01 * i * j)
    grid.SetPoints(points)
    return with_arrays(grid)


def unstructured():
    grid = vtk.vtkUnstructuredGrid()
    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    for k, j, i in itertools.product(range(2), range(2), range(3)):
        points.InsertNextPoint(i, j, k)
    grid.SetPoints(points)
    hexahedron = [0, 1, 4, 3, 6, 7, 10, 9]
    grid.InsertNextCell(vtk.VTK_HEXAHEDRON, 8, hexahedron)
    a, b, c, d, e, f, g, h = (n + 1 for n in hexahedron)
    faces = [(a, b, c, d), (e, f, g, h), (a, b, f, e), (b, c, g, f), (c, d, h, g), (d, a, e, h)]
    stream = vtk.vtkIdList()
    stream.InsertNextId(len(faces))
    for face in faces:
        stream.InsertNextId(len(face))
        for point in face:
            stream.InsertNextId(point)
    grid.InsertNextCell(vtk.VTK_POLYHEDRON, stream)
    grid.InsertNextCell(vtk.VTK_TETRA, 4, [0, 1, 3, 6])
    return with_arrays(grid)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    kinds = [
        ("vti", image, vtk.vtkXMLImageDataWriter),
        ("vtr", rectilinear, vtk.vtkXMLRectilinearGridWriter),
        ("vts", curvilinear, vtk.vtkXMLStructuredGridWriter),
        ("vtu", unstructured, vtk.vtkXMLUnstructuredGridWriter),
    ]
    modes = ["ascii", "binary", "appended", "raw"]
    compressors = ["none", "zlib", "lz4", "lzma"]
    count = 0
    for (ending, make, writer), mode, compressor, wide, big in itertools.product(
        kinds, modes, compressors, (False, True), (False, True)
    ):
        if mode == "ascii" and compressor != "none":
            continue
        out = writer()
        out.SetInputData(make())
        {
            "ascii": out.SetDataModeToAscii,
            "binary": out.SetDataModeToBinary,
            "appended": out.SetDataModeToAppended,
            "raw": out.SetDataModeToAppended,
        }[mode]()
        out.SetEncodeAppendedData(mode == "appended")
        if compressor == "none":
            out.SetCompressor(None)
        else:
            out.SetCompressorType({"zlib": 1, "lz4": 2, "lzma": 3}[compressor])
            # Several blocks even of a small grid.
            out.SetBlockSize(1024)
        out.SetHeaderType(64 if wide else 32)
        out.SetByteOrder(0 if big else 1)
        order = "big" if big else "little"
        name = f"{mode}_{compressor}_{64 if wide else 32}_{order}.{ending}"
        out.SetFileName(os.path.join(folder, name))
        if not out.Write():
            raise SystemExit(f"VTK did not write {name}")
        count += 1
    legacy = [
        ("points", image, vtk.vtkStructuredPointsWriter),
        ("rectilinear", rectilinear, vtk.vtkRectilinearGridWriter),
        ("structured", curvilinear, vtk.vtkStructuredGridWriter),
        ("unstructured", unstructured, vtk.vtkUnstructuredGridWriter),
    ]
    for (name, make, writer), binary, version in itertools.product(legacy, (False, True), (42, 51)):
        out = writer()
        grid = make()
        if name == "points":
            points = vtk.vtkStructuredPoints()
            points.DeepCopy(grid)
            grid = points
        out.SetInputData(grid)
        out.SetFileVersion(version)
        (out.SetFileTypeToBinary if binary else out.SetFileTypeToASCII)()
        out.SetFileName(os.path.join(folder, f"{name}_{'binary' if binary else 'ascii'}_{version}.vtk"))
        out.Write()
        count += 1
    print(f"{count} files in {folder}")


if __name__ == "__main__":
    main(sys.argv[1])
