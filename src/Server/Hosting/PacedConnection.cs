using System.IO.Pipelines;
using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http.Features;

namespace Treepie.Server.Hosting;

/// <summary>A connection that releases its slot once it has been closed.</summary>
internal sealed class PacedConnection(ConnectionContext inner, SemaphoreSlim places) : ConnectionContext
{
    private SemaphoreSlim? _held = places;

    public override string ConnectionId
    {
        get => inner.ConnectionId;
        set => inner.ConnectionId = value;
    }

    public override IFeatureCollection Features => inner.Features;

    public override IDictionary<object, object?> Items
    {
        get => inner.Items;
        set => inner.Items = value;
    }

    public override IDuplexPipe Transport
    {
        get => inner.Transport;
        set => inner.Transport = value;
    }

    public override CancellationToken ConnectionClosed
    {
        get => inner.ConnectionClosed;
        set => inner.ConnectionClosed = value;
    }

    public override EndPoint? LocalEndPoint
    {
        get => inner.LocalEndPoint;
        set => inner.LocalEndPoint = value;
    }

    public override EndPoint? RemoteEndPoint
    {
        get => inner.RemoteEndPoint;
        set => inner.RemoteEndPoint = value;
    }

    public override void Abort(ConnectionAbortedException abortReason) => inner.Abort(abortReason);

    public override void Abort() => inner.Abort();

    public override async ValueTask DisposeAsync()
    {
        await inner.DisposeAsync().ConfigureAwait(false);
        Interlocked.Exchange(ref _held, null)?.Release();
        await base.DisposeAsync().ConfigureAwait(false);
    }
}
