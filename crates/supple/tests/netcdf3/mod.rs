//! Small NetCDF files of version 3, written as the format's specification says.

use std::path::Path;

/// A file in the making.
#[derive(Default)]
pub(crate) struct File {
    dimensions: Vec<(String, usize)>,
    variables: Vec<Variable>,
}

struct Variable {
    name: String,
    dimensions: Vec<usize>,
    attributes: Vec<(String, String)>,
    /// Doubles, or floats.
    double: bool,
    values: Vec<f64>,
}

impl File {
    /// A dimension; of length 0 it is the record dimension, whose length the values say.
    pub(crate) fn dimension(mut self, name: &str, size: usize) -> Self {
        self.dimensions.push((name.to_owned(), size));
        self
    }

    /// A variable of floats.
    pub(crate) fn float(
        self,
        name: &str,
        dims: &str,
        attributes: &[(&str, &str)],
        values: Vec<f64>,
    ) -> Self {
        self.variable(name, dims, attributes, values, false)
    }

    /// A variable of doubles.
    pub(crate) fn double(
        self,
        name: &str,
        dims: &str,
        attributes: &[(&str, &str)],
        values: Vec<f64>,
    ) -> Self {
        self.variable(name, dims, attributes, values, true)
    }

    fn variable(
        mut self,
        name: &str,
        dims: &str,
        attributes: &[(&str, &str)],
        values: Vec<f64>,
        double: bool,
    ) -> Self {
        let find = |d: &str| self.dimensions.iter().position(|(n, _)| n == d).expect("a dimension");
        let dimensions: Vec<usize> = dims.split_ascii_whitespace().map(find).collect();
        let attributes =
            attributes.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        self.variables.push(Variable {
            name: name.to_owned(),
            dimensions,
            attributes,
            double,
            values,
        });
        self
    }

    fn is_record(&self, variable: &Variable) -> bool {
        variable.dimensions.first().is_some_and(|&d| self.dimensions[d].1 == 0)
    }

    /// Numbers of a variable, or of one record of it.
    fn count(&self, variable: &Variable) -> usize {
        let sizes = variable.dimensions.iter().map(|&d| self.dimensions[d].1.max(1));
        sizes.product()
    }

    /// The bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let size = |v: &Variable| self.count(v) * if v.double { 8 } else { 4 };
        let records = self.variables.iter().filter(|v| self.is_record(v));
        let records = records.map(|v| v.values.len() / self.count(v)).max().unwrap_or(0);
        let mut begins = vec![0_u64; self.variables.len()];
        let header = self.header(records, &begins).len() as u64;
        let mut at = header;
        for is_record in [false, true] {
            for (k, v) in self.variables.iter().enumerate() {
                if self.is_record(v) == is_record {
                    begins[k] = at;
                    at += size(v) as u64;
                }
            }
        }
        let mut bytes = self.header(records, &begins);
        let mut put = |v: &Variable, values: &[f64]| {
            for &x in values {
                if v.double {
                    bytes.extend(x.to_be_bytes());
                } else {
                    bytes.extend((x as f32).to_be_bytes());
                }
            }
        };
        for v in self.variables.iter().filter(|v| !self.is_record(v)) {
            assert_eq!(v.values.len(), self.count(v), "{}", v.name);
            put(v, &v.values);
        }
        for record in 0..records {
            for v in self.variables.iter().filter(|v| self.is_record(v)) {
                let n = self.count(v);
                put(v, &v.values[record * n..(record + 1) * n]);
            }
        }
        bytes
    }

    fn header(&self, records: usize, begins: &[u64]) -> Vec<u8> {
        let mut out = b"CDF\x02".to_vec();
        let number = |out: &mut Vec<u8>, x: usize| out.extend((x as u32).to_be_bytes());
        let text = |out: &mut Vec<u8>, s: &str| {
            out.extend((s.len() as u32).to_be_bytes());
            out.extend(s.as_bytes());
            out.resize(out.len().next_multiple_of(4), 0);
        };
        number(&mut out, records);
        number(&mut out, 10);
        number(&mut out, self.dimensions.len());
        for (name, size) in &self.dimensions {
            text(&mut out, name);
            number(&mut out, *size);
        }
        out.extend([0; 8]);
        number(&mut out, 11);
        number(&mut out, self.variables.len());
        for (v, begin) in self.variables.iter().zip(begins) {
            text(&mut out, &v.name);
            number(&mut out, v.dimensions.len());
            v.dimensions.iter().for_each(|&d| number(&mut out, d));
            if v.attributes.is_empty() {
                out.extend([0; 8]);
            } else {
                number(&mut out, 12);
                number(&mut out, v.attributes.len());
            }
            for (name, value) in &v.attributes {
                text(&mut out, name);
                number(&mut out, 2);
                text(&mut out, value);
            }
            number(&mut out, if v.double { 6 } else { 5 });
            number(&mut out, self.count(v) * if v.double { 8 } else { 4 });
            out.extend(begin.to_be_bytes());
        }
        out
    }

    /// Writes it.
    pub(crate) fn write(&self, path: &Path) {
        std::fs::write(path, self.bytes()).expect("the file can be written");
    }
}
