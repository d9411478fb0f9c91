using Treepie.Queries;

namespace Treepie.Server.Limits;

/// <summary>
/// The slot of one request in the <see cref="QueryQueue"/>: taken from the search until the last result has been read; released
/// while the query waits for an index or for the reader of the response, and after each quantum. Not thread-safe.
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

    /// <summary>Whether the slot has been taken for a quantum, so that others should get a turn.</summary>
    public bool IsOver => _isTaken && clock.GetElapsedTime(_since) >= _quantum;

    public ValueTask TakeAsync(CancellationToken cancellationToken)
    {
        if (_isTaken)
            return default;

        ValueTask entered = queue.EnterAsync(client, _wasTaken, cancellationToken);
        if (!entered.IsCompletedSuccessfully)
            return WaitAsync(entered);
        Begin();
        return default;
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
        if (_isTaken && !IsOver)
            return default;

        Release();
        return TakeAsync(cancellationToken);
    }

    public void Dispose() => Release();

    private async ValueTask WaitAsync(ValueTask entered)
    {
        await entered.ConfigureAwait(false);
        Begin();
    }

    private void Begin()
    {
        _isTaken = _wasTaken = true;
        _since = clock.GetTimestamp();
    }
}
