using System.Buffers;
using System.Text.Json;
using Treepie.Indexes.Outputs;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>Documents that a backup or an import leaves out, with what lies beside them.</summary>
[Flags]
public enum LeftOutDocuments
{
    /// <summary>None.</summary>
    None = 0,

    /// <summary>Those whose time (<c>@expires</c>) has come.</summary>
    Expired = 1,

    /// <summary>Archived ones (<c>@archived</c>).</summary>
    Archived = 2,

    /// <summary>Those that an index has written.</summary>
    Artificial = 4,
}

/// <summary>Finds documents to leave out by their metadata.</summary>
internal static class LeftOutDocumentsExtensions
{
    /// <summary>Returns whether a document is left out.</summary>
    /// <param name="leftOut">What is left out.</param>
    /// <param name="metadata">The minified metadata of the document.</param>
    /// <param name="now">The time.</param>
    public static bool Has(this LeftOutDocuments leftOut, ReadOnlySpan<byte> metadata, DateTimeOffset now) =>
        leftOut != LeftOutDocuments.None
        && ((leftOut.HasFlag(LeftOutDocuments.Expired) && DueTimes.Of(metadata).Expires is > 0 and var expires
                && expires <= now.UtcTicks)
            || (leftOut.HasFlag(LeftOutDocuments.Archived) && DocumentArchive.IsArchived(metadata))
            || (leftOut.HasFlag(LeftOutDocuments.Artificial) && OutputDocument.IsOutput(metadata)));

    /// <summary>Same as above, for a document of a dump.</summary>
    public static bool HasDocument(this LeftOutDocuments leftOut, ReadOnlyMemory<byte> json, DateTimeOffset now)
    {
        if (leftOut == LeftOutDocuments.None)
            return false;
        using var document = JsonDocument.Parse(
            json, new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 });
        if (!document.RootElement.TryGetProperty("@metadata"u8, out JsonElement metadata)
            || metadata.ValueKind != JsonValueKind.Object)
            return false;
        var minified = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(minified))
            metadata.WriteTo(writer);
        return leftOut.Has(minified.WrittenSpan, now);
    }
}
