using System.Diagnostics;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Counts the operations of an environment, so that closing can wait for them. Each holds a lease from its first step to its
/// last. Reads are counted by their slots (<see cref="ReaderTable"/>) instead: they may outlast closing. Thread-safe.
/// </summary>
/// <remarks>
/// <code>
///            BeginClose         Drain             Seal
///   open ───────────► closing ───────► drained ───────► closed
///   TryEnter   yes        no               no              no
///   TryHold    yes        yes              yes             no
/// </code>
/// Invariants. 1. The environment has a lease of its own until it is sealed. 2. Once closing, only operations already running
/// take leases, for their own steps. 3. Nothing that a lease protects is freed before <see cref="IsClosed"/>.
/// </remarks>
internal sealed class Lifetime(IScheduler scheduler) : IDisposable
{
    private const int ClosingBit = 1 << 30;

    private readonly object _lock = new(); // the scheduler waits on it
    private readonly List<int> _longOperations = [];
    private readonly CancellationTokenSource _closing = new();
    private int _state = 1;
    private volatile bool _isClosed;

    /// <summary>Cancelled when closing begins, so that long operations end at their next step.</summary>
    public CancellationToken Closing => _closing.Token;

    /// <summary>Whether closing has begun.</summary>
    public bool IsClosing => (Volatile.Read(ref _state) & ClosingBit) != 0;

    /// <summary>Whether all leases are gone for good.</summary>
    public bool IsClosed => _isClosed;

    /// <summary>The error for calls after closing has begun.</summary>
    public static ObjectDisposedException ClosedError() => new(nameof(StorageEnvironment), "The environment was closed.");

    /// <summary>Begins an operation.</summary>
    /// <exception cref="ObjectDisposedException">Closing has begun.</exception>
    public Lease Enter() => TryEnter() ? new Lease(this, threadId: 0) : throw ClosedError();

    /// <summary>
    /// Begins a long operation that calls back into user code, which must not close the environment meanwhile.
    /// </summary>
    /// <exception cref="ObjectDisposedException">Closing has begun.</exception>
    public Lease EnterLong()
    {
        Lease lease = Enter();
        lock (_lock)
            _longOperations.Add(Environment.CurrentManagedThreadId);
        return lease with { ThreadId = Environment.CurrentManagedThreadId };
    }

    /// <summary>Takes a lease for a step of an operation that is already running, even while closing waits for it.</summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public Lease Hold() => TryHold() ? new Lease(this, threadId: 0) : throw ClosedError();

    /// <summary>Takes a lease unless closing has begun; release it with <see cref="Leave"/>.</summary>
    public bool TryEnter() => TryTake(isRefusedWhileClosing: true);

    /// <summary>Takes a lease unless the environment is closed; release it with <see cref="Leave"/>.</summary>
    public bool TryHold() => TryTake(isRefusedWhileClosing: false);

    /// <summary>Releases a lease.</summary>
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

    /// <summary>Whether the calling thread is in a long operation, for which closing would wait.</summary>
    public bool IsInLongOperation()
    {
        lock (_lock)
            return _longOperations.Contains(Environment.CurrentManagedThreadId);
    }

    /// <summary>Refuses new operations and cancels long ones. Called once.</summary>
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

    /// <summary>Waits for the last lease and releases the environment's own; no lease can be taken afterwards.</summary>
    public void Seal()
    {
        Debug.Assert(IsClosing && !_isClosed, "closing → closed, once");
        while (Interlocked.CompareExchange(ref _state, ClosingBit, ClosingBit | 1) != (ClosingBit | 1))
            Drain();
        _isClosed = true;
        // An ending reader checks IsClosed after freeing its slot; whoever seals checks the slots after this.
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

    /// <summary>A lease; disposing it ends the operation.</summary>
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
