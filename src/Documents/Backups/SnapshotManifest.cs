using System.Buffers;
using System.Text.Json;

namespace Treepie.Backups;

/// <summary>What a snapshot says of its state at its end.</summary>
/// <param name="ContentHash">As <see cref="Backups.ContentHash"/> gives it: the same as that of a logical backup.</param>
internal sealed record SnapshotManifest(string ContentHash)
{
    /// <summary>As JSON.</summary>
    public byte[] Write()
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteString("ContentHash"u8, ContentHash);
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>Reads it; null where there is none.</summary>
    /// <exception cref="BackupException">It is something else.</exception>
    public static SnapshotManifest? Read(ReadOnlyMemory<byte> utf8)
    {
        if (utf8.IsEmpty)
            return null;

        try
        {
            using JsonDocument document = JsonDocument.Parse(utf8);
            return new SnapshotManifest(DumpJson.Text(document.RootElement, "ContentHash"));
        }
        catch (Exception error) when (error is JsonException or KeyNotFoundException or InvalidOperationException)
        {
            throw new BackupException(BackupFault.Damaged, $"What the snapshot says of itself at its end cannot be read ({error.Message}). Give another file.", error);
        }
    }
}
