using Treepie.Server.Databases;
using Treepie.Server.Http;

namespace Treepie.Server.Operations;

/// <summary>
/// Ends operations whose work threw. This is the one place that tells work that failed from work that was ended: somebody killed
/// it, its database was closed or deleted, or the server stops. Only failures belong in the log.
/// </summary>
internal static class WorkEnd
{
    /// <summary>Ends an operation as cancelled or as failed; gives whether it failed, which its caller logs.</summary>
    /// <param name="operation">What ends.</param>
    /// <param name="error">What its work threw.</param>
    /// <param name="server">Whose operation it is.</param>
    /// <param name="lease">The database it works on; null: it enters databases by itself.</param>
    /// <param name="answer">What clients are told of a failure.</param>
    public static bool EndsAsFailure(
        this Operation operation, Exception error, RequestServices server, DatabaseLease? lease,
        Func<Exception, ErrorAnswer> answer)
    {
        if (IsClosing(error, server, lease))
        {
            operation.Cancel();
            return false;
        }

        if (error is not OperationCanceledException)
        {
            operation.Fail(answer(error));
            return true;
        }

        operation.Cancel();
        return !operation.Killed.IsCancellationRequested;
    }

    /// <summary>Whether an error says no more than that what the work needs is being closed.</summary>
    private static bool IsClosing(Exception error, RequestServices server, DatabaseLease? lease)
    {
        for (Exception? cause = error; cause is not null; cause = cause.InnerException)
            if (cause is OperationCanceledException or ObjectDisposedException)
                return server.Stopping.IsCancellationRequested
                    || (lease is not null && (lease.Closing.IsCancellationRequested || IsClosed(lease.Database)));
        return false;
    }

    /// <summary>A database that is closed says so to whoever reads it.</summary>
    private static bool IsClosed(Database database)
    {
        try
        {
            database.BeginRead().Dispose();
            return false;
        }
        catch (ObjectDisposedException)
        {
            return true;
        }
    }
}
