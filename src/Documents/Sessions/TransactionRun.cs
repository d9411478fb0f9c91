namespace Treepie.Sessions;

/// <summary>
/// Runs a function in a session that reads one snapshot and whose save verifies everything it has read, with retries after
/// conflicts, so that it takes effect as if nobody else were writing.
/// </summary>
internal static class TransactionRun
{
    /// <summary>
    /// The maximum number of attempts. Of several conflicting writers one succeeds, so each needs at most as many as there are
    /// writers.
    /// </summary>
    private const int MostRuns = 256;

    public static async Task RunAsync(
        ISessionHost database, Func<IAsyncDocumentSession, Task> work, SessionOptions options,
        CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(work);
        ArgumentNullException.ThrowIfNull(options);
        options = options with { ChecksLoads = true, IsTransaction = true };
        for (int run = 1; ; run++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            using DocumentSession session = new DocumentSession(database, options);
            try
            {
                await work(session).ConfigureAwait(false);
                await session.SaveChangesAsync(cancellationToken).ConfigureAwait(false);
                return;
            }
            catch (ConcurrencyException) when (run < MostRuns && !session.HasSaved)
            {
                // Retry, from the current state.
            }
        }
    }
}
