using Treepie.Server.Databases;
using Treepie.Server.Http;

namespace Treepie.Server.Operations;

/// <summary>
/// Ends operations whose work threw an exception. Distinguishes failures from cancellation: the operation was killed, its
/// database was closed or deleted, or the server is stopping. Only failures are logged.
/// </summary>
internal static class WorkEnd
{
    /// <summary>Ends an operation as cancelled or failed; returns whether the caller must log the exception.</summary>
    /// <param name="operation">The operation.</param>
    /// <param name="error">The exception of its work.</param>
    /// <param name="server">The server of the operation.</param>
    /// <param name="lease">The database it works on; null if it enters databases itself.</param>
    /// <param name="answer">Creates the error that is reported to clients.</param>
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

    /// <summary>Returns whether an exception was only caused by the server stopping or the database closing.</summary>
    private static bool IsClosing(Exception error, RequestServices server, DatabaseLease? lease)
    {
        for (Exception? cause = error; cause is not null; cause = cause.InnerException)
            if (cause is OperationCanceledException or ObjectDisposedException)
                return server.Stopping.IsCancellationRequested
                    || (lease is not null && (lease.Closing.IsCancellationRequested || IsClosed(lease.Database)));
        return false;
    }

    /// <summary>Returns whether a database has been closed.</summary>
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
