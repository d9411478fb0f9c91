using Treepie.Indexes.Fields;
using Treepie.Indexing.Highlighting;

namespace Treepie.Queries;

/// <summary>A field whose matching words are highlighted.</summary>
/// <param name="Name">Name of the field in the result.</param>
/// <param name="SchemaName">Its name in the index.</param>
/// <param name="Path">The path of its text in a document.</param>
/// <param name="KeyPath">The path of the key that groups fragments in the result, or null for the document id.</param>
/// <param name="Options">Fragment length, number of fragments, tags.</param>
internal sealed record HighlightRequest(
    string Name, string SchemaName, FieldPath Path, FieldPath? KeyPath, HighlightOptions Options);
