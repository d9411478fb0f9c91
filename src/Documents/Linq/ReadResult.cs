using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>The object of the current result of an answer; null where its document was deleted in the session.</summary>
internal delegate object? ReadResult(QueryResults results);
