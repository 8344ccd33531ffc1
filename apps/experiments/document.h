#pragma once

#include <string>
#include <vector>

namespace lase {

// A table of strings.
struct TextTable {
  std::vector<std::string> columns = {};
  std::vector<std::vector<std::string>> rows = {};

  std::string text() const;  // aligned columns, for a terminal
  std::string markdown() const;
  std::string csv() const;
  std::string html() const;
};

// The results of an experiment, in reading order.
struct Document {
  std::string name = {};   // base name of its files: table3
  std::string title = {};  // Table 3: …
  std::string text = {};   // plain text; paragraphs separated by empty lines
  TextTable table = {};    // human-readable
  TextTable values = {};   // machine-readable: NAME.csv
  std::string svg = {};    // a chart, or empty
  std::string page = {};   // a report page in the same folder, or empty
  std::string notes = {};  // plain text at the end

  // Refers to the chart as NAME.svg.
  std::string markdown() const;
  std::string html() const;  // a section of a page, with the chart inline
};

// A self-contained page.
std::string html_page(const std::string& title, const std::vector<Document>& documents);

// "0.783 ± 0.002", or "0.783" if there is no error.
std::string score_text(double mean, double error);

}  // namespace lase
