using System.Buffers;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Transforms the documents of an export one by one, and remembers those that the script drops: what lies beside them is dropped
/// too. Not thread-safe.
/// </summary>
internal sealed class TransformedDocuments(DocumentTransform transform, DatabaseSnapshot snapshot, DatabaseOptions limits)
{
    /// <summary>Dropped documents are bits in chunks of this many etags, 8 KiB each: ten million take at most 80 MB.</summary>
    private const int EtagsOfChunk = 64 * 1024;

    private readonly Dictionary<long, ulong[]> _dropped = [];
    private readonly ArrayBufferWriter<byte> _json = new();

    /// <summary>The last document that was not dropped, as an import will read it; valid until the next one.</summary>
    public DumpDocument Current { get; } = new(limits);

    /// <summary>Its etag.</summary>
    public long Etag { get; private set; }

    /// <summary>The time of its last change, in UTC ticks.</summary>
    public long Ticks { get; private set; }

    /// <summary>Transforms a document; returns false if the script drops it.</summary>
    /// <exception cref="BackupException">The script failed, or its result is not a document.</exception>
    public bool Take(Document document, CancellationToken cancellationToken)
    {
        _json.ResetWrittenCount();
        document.WriteTo(_json);
        string id = document.IdText();
        (Etag, Ticks) = (document.Etag, document.LastModifiedTicks);
        if (transform.Apply(id, _json.WrittenMemory, snapshot, cancellationToken) is not { } changed)
        {
            Drop(Etag);
            return false;
        }

        try
        {
            Current.Read(changed, isForeign: false);
            return true;
        }
        catch (InvalidDocumentException error)
        {
            throw new BackupException(
                BackupFault.DocumentRefused,
                $"The script that transforms documents makes '{id}' a document that cannot be stored. {error.Message}", error);
        }
    }

    /// <summary>Returns whether the document with this etag was dropped.</summary>
    public bool IsDropped(long etag) =>
        _dropped.TryGetValue(etag / EtagsOfChunk, out ulong[]? chunk)
        && (chunk[etag % EtagsOfChunk / 64] & (1UL << (int)(etag % 64))) != 0;

    private void Drop(long etag)
    {
        if (!_dropped.TryGetValue(etag / EtagsOfChunk, out ulong[]? chunk))
            _dropped[etag / EtagsOfChunk] = chunk = new ulong[EtagsOfChunk / 64];
        chunk[etag % EtagsOfChunk / 64] |= 1UL << (int)(etag % 64);
    }
}
