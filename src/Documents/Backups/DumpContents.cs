using System.Buffers;
using System.Security.Cryptography;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Backups;

/// <summary>
/// Contents of attachments that came with a dump, by the hash that it names them with, and which of them are used.
/// </summary>
internal sealed class DumpContents
{
    private readonly Dictionary<string, (byte[] Hash, long Size)> _contents = new(StringComparer.Ordinal);
    private readonly HashSet<string> _used = new(StringComparer.Ordinal);

    /// <summary>Contents that nothing has used.</summary>
    public int Unused => _contents.Count - _used.Count;

    /// <summary>Whether a content has come.</summary>
    public bool Contains(string named) => _contents.ContainsKey(named);

    /// <summary>A content that an attachment has; false where it has not come.</summary>
    public bool TryUse(string named, out (byte[] Hash, long Size) content)
    {
        if (!_contents.TryGetValue(named, out content))
            return false;
        _used.Add(named);
        return true;
    }

    /// <summary>The attachments of a revision whose contents have come, and how many there are whose have not.</summary>
    public (byte[] List, int Taken, int Missing) ListOf(IReadOnlyList<DumpedAttachment> attachments)
    {
        if (attachments.Count == 0)
            return ([], 0, 0);
        var list = new ArrayBufferWriter<byte>();
        int taken = 0;
        foreach (DumpedAttachment listed in attachments)
        {
            if (!TryUse(listed.Hash, out (byte[] Hash, long Size) content))
                continue;
            RevisionAttachments.Append(
                list, content.Hash, content.Size, KindNames.Encode("an attachment of the backup", listed.Name),
                KindNames.EncodeType(listed.Name, listed.ContentType));
            taken++;
        }

        return (list.WrittenSpan.ToArray(), taken, attachments.Count - taken);
    }

    /// <summary>Reads a content, and hands it on where it is wanted, once its hash is checked.</summary>
    public async ValueTask ReadAsync(
        DumpReader reader, string named, long size, IDumpSink sink, Action<byte[]> check, CancellationToken cancellationToken)
    {
        AttachmentUpload? upload = sink.BeginContent();
        try
        {
            using var sha = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
            await reader.ReadRawAsync(
                size,
                piece =>
                {
                    sha.AppendData(piece.Span);
                    return upload?.WriteAsync(piece, cancellationToken) ?? ValueTask.CompletedTask;
                },
                cancellationToken).ConfigureAwait(false);
            byte[] hash = sha.GetHashAndReset();
            check(hash);
            _contents[named] = (hash, size);
            if (upload is null)
                return;
            await upload.CompleteAsync(cancellationToken).ConfigureAwait(false);
            await sink.ContentAsync(upload, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            if (upload is not null)
                await upload.DisposeAsync().ConfigureAwait(false);
        }
    }
}
