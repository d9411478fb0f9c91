using Treepie.Queries;

namespace Treepie.Server.Limits;

/// <summary>
/// The slot of one request in the <see cref="QueryQueue"/>: taken while the query searches and its results are read; released
/// while it waits for an index or for the reader of the response, and after each quantum. Not thread-safe.
/// </summary>
internal sealed class QueryTurn(QueryQueue queue, ClientKey client, TimeProvider clock) : IQueryAdmission, IDisposable
{
    /// <summary>The time after which other queries get a turn.</summary>
    private static readonly TimeSpan _quantum = TimeSpan.FromMilliseconds(50);

    private bool _isTaken;
    private bool _wasTaken;
    private long _since;

    /// <summary>Whether the slot is taken.</summary>
    public bool IsTaken => _isTaken;

    public async ValueTask TakeAsync(CancellationToken cancellationToken)
    {
        if (_isTaken)
            return;

        await queue.EnterAsync(client, _wasTaken, cancellationToken).ConfigureAwait(false);
        _isTaken = _wasTaken = true;
        _since = clock.GetTimestamp();
    }

    public void Release()
    {
        if (!_isTaken)
            return;

        _isTaken = false;
        queue.Leave();
    }

    /// <summary>Must be called between results: lets other queries run after a quantum.</summary>
    public ValueTask ShareAsync(CancellationToken cancellationToken)
    {
        if (_isTaken && clock.GetElapsedTime(_since) < _quantum)
            return default;

        Release();
        return TakeAsync(cancellationToken);
    }

    public void Dispose() => Release();
}
