using Treepie.Server.Http;

namespace Treepie.Server.Operations;

/// <summary>
/// The operations of one database, or of the server as a whole: all at work, and the last that ended, for those who ask how. Each
/// registry counts for itself, so that nobody sees, ends or guesses an operation of another database. Thread-safe; bounded.
/// </summary>
internal sealed class OperationRegistry(int maxRemembered)
{
    /// <summary>Operations whose details are kept, each up to <see cref="ChangeDetails.MaxBytes"/>.</summary>
    private const int MostDetailed = 16;

    private readonly Lock _sync = new();
    private readonly Queue<(Operation Operation, ChangeDetails Details)> _detailed = [];
    private readonly Dictionary<long, Operation> _operations = [];
    private readonly Queue<long> _begun = [];
    private readonly Queue<(long Id, string? By)> _killedUnbegun = [];
    private long _lastId;

    /// <summary>A number that no operation remembered here has.</summary>
    public long NextId()
    {
        lock (_sync)
        {
            do
                _lastId++;
            while (_operations.ContainsKey(_lastId)); // a client may have chosen it before
            return _lastId;
        }
    }

    public Operation? Find(long id)
    {
        lock (_sync)
            return _operations.GetValueOrDefault(id);
    }

    /// <summary>Begins an operation under a number of its own.</summary>
    /// <param name="startedBy">Whose it is; null: that of who administers the database.</param>
    public Operation Begin(string? startedBy = null)
    {
        lock (_sync)
            return TryBegin(NextId(), startedBy) ?? throw new InvalidOperationException("A fresh number is taken.");
    }

    /// <summary>
    /// Begins an operation under a number of <see cref="NextId"/>, or one that its client chose; null if one of that number has
    /// begun before. One whose number was killed already begins killed.
    /// </summary>
    public Operation? TryBegin(long id, string? startedBy = null)
    {
        var operation = new Operation(id) { StartedBy = startedBy };
        lock (_sync)
        {
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
    /// Ends the operation of that number as soon as it looks, also if it has yet to begin: the request to kill it may overtake
    /// the request that begins it. False if no operation was ever given the number.
    /// </summary>
    /// <param name="id">The number.</param>
    /// <param name="by">Who asks, and can end his own operations only; null: who administers the database.</param>
    /// <exception cref="WireException">It is somebody else's.</exception>
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

    /// <summary>Keeps the details of an operation; with too many, those of the oldest that has ended are forgotten.</summary>
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

    // The oldest go first, but none that is still at work.
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
