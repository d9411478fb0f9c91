using System.Buffers;
using System.Security.Cryptography;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Backups;

/// <summary>
/// The attachment contents read from a dump, by the hash under which the dump lists them, and which of them are used.
/// </summary>
internal sealed class DumpContents
{
    private readonly Dictionary<string, (byte[] Hash, long Size)> _contents = new(StringComparer.Ordinal);
    private readonly HashSet<string> _used = new(StringComparer.Ordinal);

    /// <summary>The number of unused contents.</summary>
    public int Unused => _contents.Count - _used.Count;

    /// <summary>
    /// Returns whether the content of an attachment has been read with the size that the attachment has; if it has not been read,
    /// whether it need not be in the dump.
    /// </summary>
    public bool Fits(AttachmentRecord attachment, bool isRequired) =>
        _contents.TryGetValue(Convert.ToBase64String(attachment.Hash), out (byte[] Hash, long Size) content)
            ? content.Size == attachment.SizeBytes
            : !isRequired;

    /// <summary>Returns the content of an attachment and marks it as used; false if it has not been read.</summary>
    public bool TryUse(string named, out (byte[] Hash, long Size) content)
    {
        if (!_contents.TryGetValue(named, out content))
            return false;
        _used.Add(named);
        return true;
    }

    /// <summary>
    /// Encodes the list of a revision's attachments whose contents have been read, and counts those that are missing.
    /// </summary>
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

    /// <summary>Reads a content, checks its hash, and passes it to the sink if the sink wants it.</summary>
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
