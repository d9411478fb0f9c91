using Treepie.Queries;

namespace Treepie.Server.Limits;

/// <summary>
/// The place of one request in the <see cref="QueryQueue"/>: taken while the query searches and while its results are read,
/// given back while it waits for an index or for whoever reads the answer, and after every quantum. One thread at a time.
/// </summary>
internal sealed class QueryTurn(QueryQueue queue, ClientKey client, TimeProvider clock) : IQueryAdmission, IDisposable
{
    /// <summary>Longest time at work before others have a turn.</summary>
    private static readonly TimeSpan _quantum = TimeSpan.FromMilliseconds(50);

    private bool _isTaken;
    private bool _wasTaken;
    private long _since;

    /// <summary>Whether the place is taken.</summary>
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

    /// <summary>To be called between results: lets others work if this has had its time.</summary>
    public ValueTask ShareAsync(CancellationToken cancellationToken)
    {
        if (_isTaken && clock.GetElapsedTime(_since) < _quantum)
            return default;

        Release();
        return TakeAsync(cancellationToken);
    }

    public void Dispose() => Release();
}
