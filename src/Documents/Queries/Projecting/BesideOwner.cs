using System.Buffers;
using System.Text.Json;
using Treepie.Indexes.Fields;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>The owner of a counter or time series: the result, or the document whose id is at a path.</summary>
internal sealed record BesideOwner(FieldPath? Path)
{
    /// <summary>Returns the folded id, or null if there is none.</summary>
    public byte[]? FoldedId(ResultSource source)
    {
        if (Path is null)
            return CollectionName.Fold(source.Id);
        var json = new ArrayBufferWriter<byte>();
        if (!DocumentValues.TryWrite(source.Current, Path, json))
            return null;
        var reader = new Utf8JsonReader(json.WrittenSpan);
        return reader.Read()
            && reader.TokenType == JsonTokenType.String
            && reader.GetString() is { Length: > 0 and <= DocumentId.MaxBytes } id
            && System.Text.Encoding.UTF8.GetBytes(id) is { Length: <= DocumentId.MaxBytes } utf8
                ? CollectionName.Fold(utf8)
                : null;
    }
}
