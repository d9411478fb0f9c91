using Treepie.Storage.Sessions;

namespace Treepie.Storage;

/// <summary>Runs sessions with retries after conflicts.</summary>
public static class SessionRetries
{
    /// <summary>
    /// Runs <paramref name="body"/> in a session and commits it. After a conflict, runs it again on a new snapshot, up to
    /// <paramref name="attempts"/> times in total. The body must not end the session itself. Any other exception ends the session
    /// without changes.
    /// </summary>
    /// <exception cref="SessionConflictException">Every attempt had a conflict; this is the last one.</exception>
    public static TResult RunSession<TResult>(
        this StorageEnvironment environment,
        Func<OptimisticSession, TResult> body,
        int attempts = 10,
        OptimisticSessionOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(body);
        ArgumentOutOfRangeException.ThrowIfLessThan(attempts, 1);
        for (int attempt = 1; ; attempt++)
        {
            using OptimisticSession session = environment.BeginSession(options);
            try
            {
                TResult result = body(session);
                session.Commit(cancellationToken);
                return result;
            }
            catch (SessionConflictException) when (attempt < attempts)
            {
                // The next attempt reads the state after the other commit.
            }
        }
    }

    /// <summary>Same as <see cref="RunSession{TResult}"/>, for an asynchronous body.</summary>
    public static async ValueTask<TResult> RunSessionAsync<TResult>(
        this StorageEnvironment environment,
        Func<OptimisticSession, CancellationToken, ValueTask<TResult>> body,
        int attempts = 10,
        OptimisticSessionOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(body);
        ArgumentOutOfRangeException.ThrowIfLessThan(attempts, 1);
        for (int attempt = 1; ; attempt++)
        {
            using OptimisticSession session = environment.BeginSession(options);
            try
            {
                TResult result = await body(session, cancellationToken).ConfigureAwait(false);
                await session.CommitAsync(cancellationToken).ConfigureAwait(false);
                return result;
            }
            catch (SessionConflictException) when (attempt < attempts)
            {
                // The next attempt reads the state after the other commit.
            }
        }
    }
}
