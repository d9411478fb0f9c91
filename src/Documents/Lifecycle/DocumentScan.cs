using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Lifecycle;

/// <summary>
/// Adds documents from before the index of times existed to it, once, in small steps that store their progress. Documents
/// written meanwhile are added by their writes.
/// </summary>
internal sealed class DocumentScan(IWriteHost host)
{
    private const int DocumentsPerStep = 1024;

    public async Task RunAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (Find() is not var (found, upTo))
                return;
            await host.WriteAsync(
                writer =>
                {
                    foreach (byte[] folded in found)
                        if (writer.TryGet(folded, out DocumentRecord record))
                            writer.Due.Move(folded, default, DueTimes.Of(record.Metadata));
                    writer.Due.SetScanned(upTo);
                    writer.Save();
                    return true;
                },
                cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Returns the documents with times in the next range of the log, and the end of that range; null if finished.
    /// </summary>
    private (List<byte[]> Found, long UpTo)? Find()
    {
        using DatabaseSnapshot snapshot = host.BeginRead();
        long from = snapshot.Due.ScannedUpTo;
        if (from == long.MaxValue)
            return null;

        var found = new List<byte[]>();
        using DocumentCursor cursor = snapshot.ByEtag(from);
        for (int seen = 0; cursor.MoveNext(); seen++)
        {
            if (seen == DocumentsPerStep)
                return (found, from);
            Document document = cursor.Current;
            from = document.Etag;
            if (!DueTimes.Of(document.Metadata).IsNone)
                found.Add(CollectionName.Fold(document.Id));
        }

        return (found, long.MaxValue);
    }
}
