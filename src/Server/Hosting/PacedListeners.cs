using System.Diagnostics.CodeAnalysis;
using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Treepie.Server.Hosting;

/// <summary>
/// Accepts connections no faster than those beyond the limit are closed: each is an open file, and the runtime terminates a
/// process that cannot open one. Kestrel closes connections over its limit only after accepting them, and a burst of
/// connections would be accepted faster than they are closed.
/// </summary>
/// <param name="inner">The underlying listeners.</param>
/// <param name="most">
/// The maximum number of open connections, including those about to be closed; further ones wait in the operating system's
/// queue.
/// </param>
[SuppressMessage(
    "Design", "CA1001", Justification = "It holds no handle, and connections give places back after the server has ended.")]
internal sealed class PacedListeners(IConnectionListenerFactory inner, int most)
    : IConnectionListenerFactory, IConnectionListenerFactorySelector
{
    private readonly SemaphoreSlim _places = new(most);

    /// <summary>The number of connections that can still be accepted.</summary>
    public int PlacesLeft => _places.CurrentCount;

    public bool CanBind(EndPoint endpoint) =>
        inner is not IConnectionListenerFactorySelector selector || selector.CanBind(endpoint);

    public async ValueTask<IConnectionListener> BindAsync(EndPoint endpoint, CancellationToken cancellationToken = default) =>
        new Listener(await inner.BindAsync(endpoint, cancellationToken).ConfigureAwait(false), _places);

    private sealed class Listener(IConnectionListener inner, SemaphoreSlim places) : IConnectionListener
    {
        private readonly CancellationTokenSource _ending = new();

        public EndPoint EndPoint => inner.EndPoint;

        [SuppressMessage("Reliability", "CA2000", Justification = "Kestrel disposes it.")]
        public async ValueTask<ConnectionContext?> AcceptAsync(CancellationToken cancellationToken = default)
        {
            try
            {
                await places.WaitAsync(_ending.Token).ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                return null; // no more connections are accepted
            }

            ConnectionContext? accepted = null;
            try
            {
                accepted = await inner.AcceptAsync(cancellationToken).ConfigureAwait(false);
                return accepted is null ? null : new PacedConnection(accepted, places);
            }
            finally
            {
                if (accepted is null)
                    places.Release();
            }
        }

        public async ValueTask UnbindAsync(CancellationToken cancellationToken = default)
        {
            await _ending.CancelAsync().ConfigureAwait(false);
            await inner.UnbindAsync(cancellationToken).ConfigureAwait(false);
        }

        public async ValueTask DisposeAsync()
        {
            await _ending.CancelAsync().ConfigureAwait(false);
            await inner.DisposeAsync().ConfigureAwait(false);
            _ending.Dispose();
        }
    }
}
