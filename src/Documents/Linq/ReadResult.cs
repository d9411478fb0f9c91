using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>Reads the current result of a query; returns null if its document was deleted in the session.</summary>
internal delegate object? ReadResult(QueryResults results);
