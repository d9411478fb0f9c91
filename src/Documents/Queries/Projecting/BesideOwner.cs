using System.Buffers;
using System.Text.Json;
using Treepie.Indexes.Fields;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>Whose counter or time series is meant: that of the result, or of the document whose id stands at a path.</summary>
internal sealed record BesideOwner(FieldPath? Path)
{
    /// <summary>The folded id; null where there is none.</summary>
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
