using Treepie.Encryption;

namespace Treepie.Indexes;

/// <summary>Operations on several indexes, one after the other. Indexes that are closed meanwhile are skipped.</summary>
internal static class IndexRounds
{
    /// <summary>
    /// Waits until each index has processed everything up to an etag, in all of its fields; returns false on timeout.
    /// </summary>
    public static async Task<bool> WaitForAsync(
        IReadOnlyList<DocumentIndex> indexes, long etag, TimeSpan timeout, TimeProvider timeProvider,
        CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(timeout, timeProvider);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            await WaitForAsync(indexes, etag, either.Token).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return false;
        }
    }

    private static async Task WaitForAsync(IReadOnlyList<DocumentIndex> indexes, long etag, CancellationToken cancellationToken)
    {
        foreach (DocumentIndex index in indexes)
        {
            try
            {
                await index.Progress.WaitForAsync(etag, cancellationToken).ConfigureAwait(false);
                await index.Progress.WaitForFieldsAsync(index.Definition.Schema.Fields.Count, cancellationToken)
                    .ConfigureAwait(false);
            }
            catch (ObjectDisposedException)
            {
                // Do not wait for an index that was deleted.
            }
        }
    }

    /// <summary>Gives each index a new data key.</summary>
    public static void RotateDataKeys(
        IReadOnlyList<DocumentIndex> indexes, KeyRotationSteps steps, CancellationToken cancellationToken)
    {
        foreach (DocumentIndex index in indexes)
        {
            if (!index.TryHold())
                continue;
            try
            {
                steps.Run(index.Name, told => index.RotateDataKey(told, cancellationToken));
            }
            finally
            {
                index.Release();
            }
        }
    }

    /// <summary>Shrinks the data file of each index; returns reports by index name.</summary>
    public static Dictionary<string, CompactedStore> Shrink(
        IReadOnlyList<DocumentIndex> indexes, CompactionSteps steps, CancellationToken cancellationToken)
    {
        var reports = new Dictionary<string, CompactedStore>(StringComparer.Ordinal);
        foreach (DocumentIndex index in indexes)
        {
            if (!index.TryHold())
                continue;
            try
            {
                reports[index.Name] = steps.Run(index.Name, told => index.Store.Shrink(told, cancellationToken));
            }
            finally
            {
                index.Release();
            }
        }

        return reports;
    }

    /// <summary>Returns the memory in bytes of decrypted pages.</summary>
    public static long DecryptedBytes(IReadOnlyList<DocumentIndex> indexes)
    {
        long bytes = 0;
        foreach (DocumentIndex index in indexes)
        {
            if (!index.TryHold())
                continue;
            try
            {
                bytes += index.Store.GetStatistics().DecryptedBytes;
            }
            finally
            {
                index.Release();
            }
        }

        return bytes;
    }
}
