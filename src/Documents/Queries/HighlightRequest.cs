using Treepie.Indexes.Fields;
using Treepie.Indexing.Highlighting;

namespace Treepie.Queries;

/// <summary>A field in whose texts found words are to be marked.</summary>
/// <param name="Name">Name of the field in the answer.</param>
/// <param name="SchemaName">Its name in the index.</param>
/// <param name="Path">Where its texts stand in a document.</param>
/// <param name="KeyPath">Where the key stands under which a document's fragments go; null: its id.</param>
/// <param name="Options">Length, number, tags.</param>
internal sealed record HighlightRequest(
    string Name, string SchemaName, FieldPath Path, FieldPath? KeyPath, HighlightOptions Options);
