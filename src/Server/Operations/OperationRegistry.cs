using Treepie.Server.Http;

namespace Treepie.Server.Operations;

/// <summary>
/// The operations of one database, or of the server as a whole: all running ones, and the last ones that have ended. Each
/// registry has its own numbers, so that operations of other databases cannot be seen, killed or guessed. Thread-safe;
/// bounded.
/// </summary>
internal sealed class OperationRegistry(int maxRemembered)
{
    /// <summary>
    /// The maximum number of operations whose details are kept, each up to <see cref="ChangeDetails.MaxBytes"/>.
    /// </summary>
    private const int MostDetailed = 16;

    private readonly Lock _sync = new();
    private readonly Queue<(Operation Operation, ChangeDetails Details)> _detailed = [];
    private readonly Dictionary<long, Operation> _operations = [];
    private readonly Queue<long> _begun = [];
    private readonly Queue<(long Id, string? By)> _killedUnbegun = [];
    private readonly Dictionary<long, string> _drawn = [];
    private readonly Queue<long> _drawnInOrder = [];
    private long _lastId;

    /// <summary>Returns a number that no operation in the registry has.</summary>
    /// <param name="by">The client that draws it, and that alone can use it; null: anybody can.</param>
    public long NextId(string? by = null)
    {
        lock (_sync)
        {
            do
                _lastId++;
            while (_operations.ContainsKey(_lastId)); // a client may have chosen it before
            if (by is not null)
            {
                _drawn[_lastId] = by;
                _drawnInOrder.Enqueue(_lastId);
                if (_drawnInOrder.Count > maxRemembered)
                    _drawn.Remove(_drawnInOrder.Dequeue());
            }

            return _lastId;
        }
    }

    public Operation? Find(long id)
    {
        lock (_sync)
            return _operations.GetValueOrDefault(id);
    }

    /// <summary>Starts an operation with a new number.</summary>
    /// <param name="startedBy">The client that starts it; null for administrators of the database.</param>
    public Operation Begin(string? startedBy = null)
    {
        lock (_sync)
            return TryBegin(NextId(), startedBy) ?? throw new InvalidOperationException("A fresh number is taken.");
    }

    /// <summary>
    /// Starts an operation with a number from <see cref="NextId"/> or one chosen by the client; returns null if an operation
    /// had this number before, or another client has drawn it. An operation that was killed before it was started starts
    /// cancelled.
    /// </summary>
    public Operation? TryBegin(long id, string? startedBy = null)
    {
        var operation = new Operation(id) { StartedBy = startedBy };
        lock (_sync)
        {
            if (_drawn.TryGetValue(id, out string? drawnBy) && startedBy is not null && drawnBy != startedBy)
                return null;
            if (!_operations.TryAdd(id, operation))
                return null;

            if (_killedUnbegun.Any(one => one.Id == id && operation.IsKilledBy(one.By)))
                operation.Kill();

            _begun.Enqueue(id);
            Forget();
            return operation;
        }
    }

    /// <summary>
    /// Kills an operation, even if it has not been started yet: the request to kill it may arrive before the one that starts
    /// it. Returns false if the number was never assigned.
    /// </summary>
    /// <param name="id">The number of the operation.</param>
    /// <param name="by">The client, which can only kill its own operations; null for administrators of the database.</param>
    /// <exception cref="WireException">The operation was started by another client.</exception>
    public bool Kill(long id, string? by = null)
    {
        lock (_sync)
        {
            if (_operations.TryGetValue(id, out Operation? operation))
            {
                if (!operation.IsKilledBy(by))
                {
                    throw new WireException(
                        StatusCodes.Status403Forbidden, WireTypes.Authorization,
                        $"Operation {id} was started by somebody else: only who administers the database can end it. Nothing was "
                            + $"changed.");
                }

                operation.Kill();
                return true;
            }

            if (id < 1 || id > _lastId)
                return false;

            _killedUnbegun.Enqueue((id, by));
            if (_killedUnbegun.Count > maxRemembered)
                _killedUnbegun.Dequeue();

            return true;
        }
    }

    /// <summary>Keeps the details of an operation; if there are too many, drops those of the oldest ended one.</summary>
    public void Keep(Operation operation, ChangeDetails details)
    {
        lock (_sync)
        {
            _detailed.Enqueue((operation, details));
            for (int candidates = _detailed.Count; _detailed.Count > MostDetailed && candidates > 0; candidates--)
            {
                (Operation Operation, ChangeDetails Details) oldest = _detailed.Dequeue();
                if (oldest.Operation.IsOver)
                    oldest.Details.Forget();
                else
                    _detailed.Enqueue(oldest);
            }
        }
    }

    // Removes the oldest operations, but none that is still running.
    private void Forget()
    {
        int candidates = _begun.Count;
        while (_operations.Count > maxRemembered && candidates-- > 0)
        {
            long oldest = _begun.Dequeue();
            if (_operations[oldest].IsOver)
                _operations.Remove(oldest);
            else
                _begun.Enqueue(oldest);
        }
    }
}
