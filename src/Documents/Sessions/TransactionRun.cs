namespace Treepie.Sessions;

/// <summary>
/// Runs work in a session whose save checks everything it loaded, and runs it again where somebody was faster: it takes effect as
/// if nobody else were there.
/// </summary>
internal static class TransactionRun
{
    /// <summary>Most runs. Of those who wait for one another one gets through, so that each needs as many as there are.</summary>
    private const int MostRuns = 256;

    public static async Task RunAsync(
        ISessionHost database, Func<IAsyncDocumentSession, Task> work, SessionOptions options,
        CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(work);
        ArgumentNullException.ThrowIfNull(options);
        options = options with { ChecksLoads = true };
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
            catch (ConcurrencyException) when (run < MostRuns)
            {
                // Again, from what there is now.
            }
        }
    }
}
