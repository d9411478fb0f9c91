using System.Diagnostics;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Counts the operations of an environment, so that closing can wait for them. Each one holds a lease from its first step to its
/// last. Reads are not counted here but by their slots (<see cref="ReaderTable"/>): they may outlive the closing. Thread-safe.
/// </summary>
/// <remarks>
/// <code>
///            BeginClose         Drain             Seal
///   open ───────────► closing ───────► drained ───────► closed
///   TryEnter   yes        no               no              no
///   TryHold    yes        yes              yes             no
/// </code>
/// Invariants. 1. The environment has a lease of its own until it is sealed. 2. Once closing, only what runs already takes
/// leases, for its own steps. 3. Nothing that a lease protects is freed before <see cref="IsClosed"/>.
/// </remarks>
internal sealed class Lifetime(IScheduler scheduler) : IDisposable
{
    private const int ClosingBit = 1 << 30;

    private readonly object _lock = new(); // the scheduler waits on it
    private readonly List<int> _longOperations = [];
    private readonly CancellationTokenSource _closing = new();
    private int _state = 1;
    private volatile bool _isClosed;

    /// <summary>Cancelled when closing begins: long operations end at their next step.</summary>
    public CancellationToken Closing => _closing.Token;

    /// <summary>Whether closing has begun.</summary>
    public bool IsClosing => (Volatile.Read(ref _state) & ClosingBit) != 0;

    /// <summary>Whether nothing holds a lease, for good.</summary>
    public bool IsClosed => _isClosed;

    /// <summary>What is said to whoever comes too late.</summary>
    public static ObjectDisposedException ClosedError() => new(nameof(StorageEnvironment), "The environment was closed.");

    /// <summary>Begins an operation.</summary>
    /// <exception cref="ObjectDisposedException">Closing has begun.</exception>
    public Lease Enter() => TryEnter() ? new Lease(this, threadId: 0) : throw ClosedError();

    /// <summary>
    /// Begins an operation that takes long and calls its caller back, who must not close the environment meanwhile.
    /// </summary>
    /// <exception cref="ObjectDisposedException">Closing has begun.</exception>
    public Lease EnterLong()
    {
        Lease lease = Enter();
        lock (_lock)
            _longOperations.Add(Environment.CurrentManagedThreadId);
        return lease with { ThreadId = Environment.CurrentManagedThreadId };
    }

    /// <summary>Takes a lease for a step of something that runs already, also while closing waits for that.</summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public Lease Hold() => TryHold() ? new Lease(this, threadId: 0) : throw ClosedError();

    /// <summary>Takes a lease, which <see cref="Leave"/> gives back, unless closing has begun.</summary>
    public bool TryEnter() => TryTake(isRefusedWhileClosing: true);

    /// <summary>Takes a lease, which <see cref="Leave"/> gives back, unless the environment is closed.</summary>
    public bool TryHold() => TryTake(isRefusedWhileClosing: false);

    /// <summary>Gives a lease back.</summary>
    public void Leave()
    {
        int state = Interlocked.Decrement(ref _state);
        Debug.Assert(state > 0 && (state & ~ClosingBit) > 0, "1: the environment's own lease is left");
        if ((state & ClosingBit) == 0)
            return;

        lock (_lock)
            Monitor.PulseAll(_lock);
    }

    /// <exception cref="ObjectDisposedException">Closing has begun.</exception>
    public void ThrowIfClosing()
    {
        if (IsClosing)
            throw ClosedError();
    }

    /// <summary>Whether the calling thread is in a long operation, which a closing would wait for.</summary>
    public bool IsInLongOperation()
    {
        lock (_lock)
            return _longOperations.Contains(Environment.CurrentManagedThreadId);
    }

    /// <summary>Refuses new operations and ends long ones. Once.</summary>
    public void BeginClose()
    {
        Interlocked.Or(ref _state, ClosingBit);
        _closing.Cancel();
    }

    /// <summary>Waits until only the environment's own lease is left.</summary>
    public void Drain()
    {
        lock (_lock)
        {
            while (Volatile.Read(ref _state) > (ClosingBit | 1))
                scheduler.Wait(_lock);
        }
    }

    /// <summary>Gives the environment's own lease back; from here on there are none.</summary>
    public void Seal()
    {
        Debug.Assert(IsClosing && !_isClosed, "closing → closed, once");
        while (Interlocked.CompareExchange(ref _state, ClosingBit, ClosingBit | 1) != (ClosingBit | 1))
            Drain();
        _isClosed = true;
        // a reader that ends looks at this after its slot, and whoever seals looks at the slots after this
        Interlocked.MemoryBarrier();
    }

    public void Dispose() => _closing.Dispose();

    private bool TryTake(bool isRefusedWhileClosing)
    {
        int state = Volatile.Read(ref _state);
        while (state != ClosingBit && !(isRefusedWhileClosing && (state & ClosingBit) != 0))
        {
            int seen = Interlocked.CompareExchange(ref _state, state + 1, state);
            if (seen == state)
                return true;
            state = seen;
        }

        return false;
    }

    private void LeaveLong(int threadId)
    {
        lock (_lock)
            _longOperations.Remove(threadId);
    }

    /// <summary>A lease; its end is the end of the operation.</summary>
    internal readonly struct Lease(Lifetime lifetime, int threadId) : IDisposable
    {
        /// <summary>The thread of a long operation, or 0.</summary>
        public int ThreadId { get; init; } = threadId;

        public void Dispose()
        {
            if (ThreadId != 0)
                lifetime.LeaveLong(ThreadId);
            lifetime.Leave();
        }
    }
}
