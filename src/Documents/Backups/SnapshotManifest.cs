using System.Buffers;
using System.Text.Json;
using Treepie.Storage.Backups;

namespace Treepie.Backups;

/// <summary>The manifest at the end of a snapshot.</summary>
/// <param name="ContentHash">
/// The hash computed by <see cref="Backups.ContentHash"/>: the same as that of a logical backup.
/// </param>
/// <param name="Hash">The algorithm of the hash.</param>
internal sealed record SnapshotManifest(string ContentHash, BackupHashKind Hash = BackupHashKind.Blake3)
{
    /// <summary>The name of the algorithm; a manifest without a name uses the original one, SHA-256.</summary>
    private const string Blake3 = "BLAKE3";

    /// <summary>Returns the manifest as JSON.</summary>
    public byte[] Write()
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            json.WriteString("ContentHash"u8, ContentHash);
            if (Hash == BackupHashKind.Blake3)
                json.WriteString("Algorithm"u8, Blake3);
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>Reads a manifest; returns null for none.</summary>
    /// <exception cref="BackupException">It is not a manifest, or its algorithm is unknown.</exception>
    public static SnapshotManifest? Read(ReadOnlyMemory<byte> utf8)
    {
        if (utf8.IsEmpty)
            return null;

        try
        {
            using JsonDocument document = JsonDocument.Parse(utf8);
            string? algorithm = document.RootElement.TryGetProperty("Algorithm"u8, out JsonElement named)
                ? named.GetString()
                : null;
            return algorithm is null or Blake3
                ? new SnapshotManifest(
                    DumpJson.Text(document.RootElement, "ContentHash"),
                    algorithm is null ? BackupHashKind.Sha256 : BackupHashKind.Blake3)
                : throw new BackupException(
                    BackupFault.Newer,
                    $"The content of the snapshot is hashed with '{algorithm}', which this program does not know. Restore it "
                        + $"with the version that wrote it, or a newer one.");
        }
        catch (Exception error) when (error is JsonException or KeyNotFoundException or InvalidOperationException)
        {
            throw new BackupException(
                BackupFault.Damaged,
                $"What the snapshot says of itself at its end cannot be read ({error.Message}). Give another file.", error);
        }
    }
}
