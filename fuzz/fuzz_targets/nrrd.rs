//! Any bytes as a file of this kind: refused, or arrays that fit their grid.
#![no_main]

use libfuzzer_sys::fuzz_target;
use supple::flow::dataset::Select;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(dataset) = supple::io::nrrd::read(bytes, Select::All, &supple::io::vtk_xml::no_files) {
        assert_eq!(dataset.validate(), Ok(()));
    }
});
