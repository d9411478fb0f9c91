using System.Net.Sockets;
using Amazon.Runtime;

namespace Treepie.S3;

/// <summary>
/// Tries again what may go better the next time, with waits that double and are spread, so that many who lost the same server do
/// not come back together. Thread-safe.
/// </summary>
internal sealed class Backoff(TimeProvider clock, Func<double> jitter)
{
    /// <summary>Tries of one request: with the waits below, about three minutes for a server to come back.</summary>
    public const int MaxTries = 12;

    /// <summary>
    /// Longest that one try may take: a part that needs more goes slower than 30 kB a second, and what takes nothing at all is
    /// not waited for any longer.
    /// </summary>
    public static readonly TimeSpan TryTimeout = TimeSpan.FromMinutes(5);

    /// <summary>A try that ran out of its time counts as so many: a quarter of an hour in all.</summary>
    private const int TriesOfATimeout = 4;

    private static readonly TimeSpan _first = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan _most = TimeSpan.FromSeconds(30);

    /// <summary>The time (UTC).</summary>
    public DateTime Now => clock.GetUtcNow().UtcDateTime;

    /// <summary>Runs it, again and again if need be.</summary>
    /// <param name="place">Where, for messages.</param>
    /// <param name="request">One try.</param>
    /// <param name="maxTries">Tries at most.</param>
    /// <param name="cancellationToken">Ends tries and waits.</param>
    /// <exception cref="DestinationException">It cannot go better, or did not.</exception>
    public async Task<T> RunAsync<T>(
        string place, Func<CancellationToken, Task<T>> request, CancellationToken cancellationToken, int maxTries = MaxTries)
    {
        for (int tried = 1; ; tried++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            using var timeout = new CancellationTokenSource(TryTimeout, clock);
            using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, timeout.Token);
            try
            {
                return await request(either.Token).ConfigureAwait(false);
            }
            catch (Exception error) when (timeout.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
            {
                tried += TriesOfATimeout - 1;
                if (tried >= maxTries)
                    throw new DestinationException(
                        DestinationFault.TooSlow,
                        $"'{place}' gave no answer for {TryTimeout.TotalMinutes:N0} minutes, "
                            + $"{(tried + TriesOfATimeout - 1) / TriesOfATimeout} times in a row. Look at its connection, and "
                            + $"whether it is overloaded.",
                        error);
            }
            catch (Exception error) when (!cancellationToken.IsCancellationRequested && IsWorthAnother(error) && tried < maxTries)
            {
                await WaitAsync(tried, cancellationToken).ConfigureAwait(false);
            }
            catch (Exception error) when (!cancellationToken.IsCancellationRequested)
            {
                throw S3Errors.Explain(place, error, tried);
            }
        }
    }

    /// <summary>Does something that must not take longer than a try may.</summary>
    /// <exception cref="TimeoutException">It did.</exception>
    public async ValueTask<T> InTimeAsync<TState, T>(
        TState state, Func<TState, CancellationToken, ValueTask<T>> work, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(TryTimeout, clock);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, timeout.Token);
        try
        {
            return await work(state, either.Token).ConfigureAwait(false);
        }
        catch (Exception error) when (timeout.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            throw new TimeoutException($"Nothing came for {TryTimeout.TotalMinutes:N0} minutes.", error);
        }
    }

    /// <summary>Waits before the next try.</summary>
    public Task WaitAsync(int tried, CancellationToken cancellationToken)
    {
        double most = Math.Min(_most.TotalMilliseconds, _first.TotalMilliseconds * Math.Pow(2, tried - 1));
        return Task.Delay(TimeSpan.FromMilliseconds(most * (0.5 + (0.5 * jitter()))), clock, cancellationToken);
    }

    /// <summary>Whether it is the connection or the server's present state, and not what was asked.</summary>
    public static bool IsWorthAnother(Exception error) => error switch
    {
        DestinationException => false,
        AmazonServiceException
        {
            ErrorCode: "RequestTimeout" or "SlowDown" or "InternalError" or "ServiceUnavailable"
            or "Throttling" or "RequestTimeoutException"
        } => true,
        AmazonServiceException service when (int)service.StatusCode is >= 500 and not 501 or 429 or 408 => true,
        AmazonServiceException { StatusCode: 0, InnerException: { } inner } => IsWorthAnother(inner),
        HttpRequestException or IOException or SocketException or TimeoutException or OperationCanceledException => true,
        _ when error is AmazonClientException { InnerException: { } inner } => IsWorthAnother(inner),
        _ => false,
    };
}
