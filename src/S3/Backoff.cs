using System.Net.Sockets;
using Amazon.Runtime;

namespace Treepie.S3;

/// <summary>
/// Retries requests that failed for temporary reasons. Waits double and have jitter, so that many clients of a failed server
/// do not return at the same moment. Thread-safe.
/// </summary>
internal sealed class Backoff(TimeProvider clock, Func<double> jitter)
{
    /// <summary>Attempts per request. With the waits below, a server has about three minutes to come back.</summary>
    public const int MaxTries = 12;

    /// <summary>
    /// Timeout of one attempt. A part of the default size that takes longer is slower than 30 kB/s.
    /// </summary>
    public static readonly TimeSpan TryTimeout = TimeSpan.FromMinutes(5);

    /// <summary>An attempt that timed out counts as this many, so that timeouts last a quarter of an hour in total.</summary>
    private const int TriesOfATimeout = 4;

    private static readonly TimeSpan _first = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan _most = TimeSpan.FromSeconds(30);

    /// <summary>The current time (UTC).</summary>
    public DateTime Now => clock.GetUtcNow().UtcDateTime;

    /// <summary>Runs a request, with retries if necessary.</summary>
    /// <param name="place">Address of the destination, for messages.</param>
    /// <param name="request">Makes one attempt.</param>
    /// <param name="maxTries">Maximum number of attempts.</param>
    /// <param name="cancellationToken">Cancels attempts and waits.</param>
    /// <exception cref="DestinationException">The error is permanent, or all attempts failed.</exception>
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

    /// <summary>Runs an operation with the timeout of one attempt.</summary>
    /// <exception cref="TimeoutException">The timeout has expired.</exception>
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

    /// <summary>Waits before the next attempt.</summary>
    public Task WaitAsync(int tried, CancellationToken cancellationToken)
    {
        double most = Math.Min(_most.TotalMilliseconds, _first.TotalMilliseconds * Math.Pow(2, tried - 1));
        return Task.Delay(TimeSpan.FromMilliseconds(most * (0.5 + (0.5 * jitter()))), clock, cancellationToken);
    }

    /// <summary>Whether an error comes from the connection or a temporary state of the server, so that a retry may
    /// succeed.</summary>
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
