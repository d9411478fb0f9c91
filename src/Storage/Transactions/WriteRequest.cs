using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.ExceptionServices;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>A command in the commit queue.</summary>
/// <remarks>
/// States: waiting → running → done, or waiting → cancelled; running → waiting once, where the disk was full. Only the leader of
/// the commit queue starts it; the thread that has its batch completes it. One that succeeded may be used again by another
/// caller. Two threads may not know that yet: the one that completed it and is about to wake its sleeper, and one that saw it
/// waiting and wakes it to lead. Both then wake a caller that looks once more than it needs; a request without a caller is
/// <c>Left</c>.
/// </remarks>
[SuppressMessage("Maintainability", "CA1001", Justification = "The registration ends with the request.")]
internal abstract class WriteRequest
{
    private const int Waiting = 0;
    private const int Running = 1;
    private const int Done = 2;
    private const int Cancelled = 3;

    private const int Calm = 0;
    private const int Called = 1;
    private const int Left = 2;

    private int _state;
    private CancellationTokenRegistration _registration;
    private Lifetime? _lifetime;

    /// <summary>Whether its caller is woken to lead, or has left.</summary>
    private int _attention;

    /// <summary>Where its caller sleeps; null before it first does.</summary>
    private Sleeper? _sleeper;

    /// <summary>What it failed with.</summary>
    public Exception? Error { get; private set; }

    /// <summary>Whether someone blocks in <see cref="Wait"/>; otherwise its completion continues by itself.</summary>
    public bool IsAsync { get; protected init; }

    /// <summary>Whether it already runs for the second time, after the first found the disk full.</summary>
    public bool IsRetry { get; private set; }

    /// <summary>The next one in the list it is in.</summary>
    public WriteRequest? Next { get; set; }

    public bool IsDone => Volatile.Read(ref _state) >= Done;

    /// <summary>Whether it was taken out of waiting.</summary>
    public bool IsStarted => Volatile.Read(ref _state) != Waiting;

    /// <summary>Runs the command.</summary>
    public abstract void Run(WriteTransaction transaction);

    /// <summary>Takes it out of waiting; false if it was cancelled.</summary>
    public bool TryStart() => Interlocked.CompareExchange(ref _state, Running, Waiting) == Waiting;

    /// <summary>
    /// Puts it back into waiting, to run a second time: nothing is left of the first. For the leader.
    /// </summary>
    public void PutBack()
    {
        Debug.Assert(_state == Running && !IsRetry, "running → waiting, once");
        IsRetry = true;
        Volatile.Write(ref _state, Waiting);
    }

    /// <summary>Lets a token cancel it until the registration is given back. The state is what is given beside it.</summary>
    public CancellationTokenRegistration Register(CancellationToken token) =>
        token.UnsafeRegister(static (state, cancelled) => ((WriteRequest)state!).TryCancel(cancelled), this);

    /// <summary>
    /// Gives an asynchronous request a lease, and lets a token cancel it; its end, which a cancelled token brings at once, gives
    /// both back: a token may live much longer. For a caller with a lease, before anyone else knows the request, which is
    /// submitted after this whatever has happened to it.
    /// </summary>
    public void Accompany(Lifetime lifetime, CancellationToken token)
    {
        if (!lifetime.TryHold())
            throw Lifetime.ClosedError();

        Debug.Assert(IsAsync && _lifetime is null, "an asynchronous request has one lease");
        _lifetime = lifetime;
        try
        {
            _registration = Register(token);
        }
        catch
        {
            lifetime.Leave();
            throw;
        }
    }

    /// <summary>Cancels it if it has not begun.</summary>
    public void TryCancel(CancellationToken token)
    {
        if (Interlocked.CompareExchange(ref _state, Cancelled, Waiting) != Waiting)
            return;

        Error = new OperationCanceledException(token);
        Signal();
    }

    /// <summary>Notes what it failed with, to be told when it is completed.</summary>
    public void Fail(Exception error) => Error = error;

    /// <summary>Ends it, with an error or without.</summary>
    public void Complete()
    {
        Debug.Assert(_state == Running, "running → done, once");
        Volatile.Write(ref _state, Done);
        Signal();
    }

    /// <summary>Wakes its caller, which waits or is about to, to lead; false if it has left.</summary>
    public bool TryWake()
    {
        if (Interlocked.CompareExchange(ref _attention, Called, Calm) == Left)
            return false;

        WakeSleeper();
        return true;
    }

    /// <summary>Blocks until it is done (false), or its caller is woken to lead (true).</summary>
    public bool Wait(IScheduler scheduler)
    {
        if (_sleeper is null)
        {
            Volatile.Write(ref _sleeper, scheduler.CreateSleeper());
            Interlocked.MemoryBarrier(); // who sees no sleeper has set before what is looked at below
        }

        while (true)
        {
            if (Interlocked.CompareExchange(ref _attention, Calm, Called) == Called)
                return true;
            if (IsDone && Interlocked.CompareExchange(ref _attention, Left, Calm) == Calm)
                return false;
            if (!IsDone)
                _sleeper.Sleep();
        }
    }

    /// <summary>Makes it as new, but for the place to sleep. For its owner, when no queue and no list has it any more.</summary>
    protected void Renew()
    {
        Debug.Assert(_state != Running, "a request that runs is in a batch");
        Error = null;
        IsRetry = false;
        Next = null;
        Volatile.Write(ref _attention, Calm);
        Volatile.Write(ref _state, Waiting);
    }

    /// <summary>Nobody waits for it any more.</summary>
    protected void Leave() => Volatile.Write(ref _attention, Left);

    protected void ThrowIfFailed()
    {
        if (Error is { } error)
            ExceptionDispatchInfo.Throw(error);
    }

    /// <summary>Called once, when an asynchronous request is done.</summary>
    protected virtual void OnDone()
    {
    }

    private void Signal()
    {
        if (IsAsync)
        {
            _registration.Unregister(); // without waiting: this may be the cancellation itself
            OnDone();
            _lifetime?.Leave();
            return;
        }

        WakeSleeper();
    }

    /// <summary>
    /// After what is to be seen was set. The barrier: who comes to sleep later sees it (the other half is in <see cref="Wait"/>).
    /// </summary>
    private void WakeSleeper()
    {
        Interlocked.MemoryBarrier();
        Volatile.Read(ref _sleeper)?.Wake();
    }
}

/// <summary>A command with a result.</summary>
internal sealed class WriteRequest<TResult> : WriteRequest
{
    private readonly TaskCompletionSource<TResult>? _completion;
    private Func<WriteTransaction, TResult>? _command;
    private TResult? _result;

    public WriteRequest(bool isAsync)
    {
        IsAsync = isAsync;
        if (isAsync)
            _completion = new TaskCompletionSource<TResult>(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    /// <summary>Completes with the request, if it is asynchronous.</summary>
    public Task<TResult> Task => _completion?.Task ?? throw new InvalidOperationException("A blocking request has no task.");

    /// <summary>The result, or the error thrown.</summary>
    public TResult Result
    {
        get
        {
            ThrowIfFailed();
            return _result!; // set by Run, without which a request does not succeed
        }
    }

    /// <summary>Makes it ready to be submitted.</summary>
    public void Begin(Func<WriteTransaction, TResult> command)
    {
        _command = command;
        Renew();
    }

    /// <summary>Lets go of what it held.</summary>
    public void End()
    {
        _command = null;
        _result = default;
        Leave();
    }

    public override void Run(WriteTransaction transaction) => _result = _command!(transaction); // Begin comes first

    protected override void OnDone()
    {
        if (Error is OperationCanceledException { CancellationToken: { IsCancellationRequested: true } token })
            _completion!.TrySetCanceled(token); // asynchronous requests have it
        else if (Error is { } error)
            _completion!.TrySetException(error);
        else
            _completion!.TrySetResult(_result!);
    }
}
