using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.ExceptionServices;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>A command in the commit queue.</summary>
/// <remarks>
/// States: waiting → running → done, or waiting → cancelled; running → waiting once, if the disk was full. Only the leader of
/// the commit queue starts a request; the thread that flushes its batch completes it. A request that succeeded may be reused
/// by another caller. Two threads may not know that yet: the one that completed it and is about to wake its sleeper, and one
/// that saw it waiting and wakes it to lead. Both then only cause a caller to check once more than needed; a request without
/// a caller is <c>Left</c>.
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

    /// <summary>Whether its caller has been called to lead, or has left.</summary>
    private int _attention;

    /// <summary>What its caller sleeps on; null until it first sleeps.</summary>
    private Sleeper? _sleeper;

    /// <summary>The error it failed with, or null.</summary>
    public Exception? Error { get; private set; }

    /// <summary>Whether it completes through a task; otherwise its caller blocks in <see cref="Wait"/>.</summary>
    public bool IsAsync { get; protected init; }

    /// <summary>Whether it runs for the second time, after the disk was full the first time.</summary>
    public bool IsRetry { get; private set; }

    /// <summary>The next request in its list.</summary>
    public WriteRequest? Next { get; set; }

    public bool IsDone => Volatile.Read(ref _state) >= Done;

    /// <summary>Whether it is no longer waiting.</summary>
    public bool IsStarted => Volatile.Read(ref _state) != Waiting;

    /// <summary>Runs the command.</summary>
    public abstract void Run(WriteTransaction transaction);

    /// <summary>Moves it from waiting to running; false if it was cancelled.</summary>
    public bool TryStart() => Interlocked.CompareExchange(ref _state, Running, Waiting) == Waiting;

    /// <summary>
    /// Returns it to waiting, to run a second time; the first run must have been undone. Must be called by the leader.
    /// </summary>
    public void PutBack()
    {
        Debug.Assert(_state == Running && !IsRetry, "running → waiting, once");
        IsRetry = true;
        Volatile.Write(ref _state, Waiting);
    }

    /// <summary>Lets a token cancel it until the registration is disposed.</summary>
    public CancellationTokenRegistration Register(CancellationToken token) =>
        token.UnsafeRegister(static (state, cancelled) => ((WriteRequest)state!).TryCancel(cancelled), this);

    /// <summary>
    /// Gives an asynchronous request a lease and lets a token cancel it. Its completion, which cancellation causes at once,
    /// releases both, because a token may live much longer. The caller must hold a lease, call this before any other thread
    /// knows the request, and submit the request afterwards whatever has happened to it.
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

    /// <summary>Cancels it if it has not started.</summary>
    public void TryCancel(CancellationToken token)
    {
        if (Interlocked.CompareExchange(ref _state, Cancelled, Waiting) != Waiting)
            return;

        Error = new OperationCanceledException(token);
        Signal();
    }

    /// <summary>Records its error, reported on completion.</summary>
    public void Fail(Exception error) => Error = error;

    /// <summary>Completes it, with or without an error.</summary>
    public void Complete()
    {
        Debug.Assert(_state == Running, "running → done, once");
        Volatile.Write(ref _state, Done);
        Signal();
    }

    /// <summary>Wakes its caller, which waits or is about to, so that it leads; false if it has left.</summary>
    public bool TryWake()
    {
        if (Interlocked.CompareExchange(ref _attention, Called, Calm) == Left)
            return false;

        WakeSleeper();
        return true;
    }

    /// <summary>Blocks until it is done (returns false) or its caller is called to lead (returns true).</summary>
    public bool Wait(IScheduler scheduler)
    {
        if (_sleeper is null)
        {
            Volatile.Write(ref _sleeper, scheduler.CreateSleeper());
            Interlocked.MemoryBarrier(); // a thread that sees no sleeper has already set what is checked below
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

    /// <summary>Resets it, except for the sleeper. Called by its owner when it is in no queue or list.</summary>
    protected void Renew()
    {
        Debug.Assert(_state != Running, "a request that runs is in a batch");
        Error = null;
        IsRetry = false;
        Next = null;
        Volatile.Write(ref _attention, Calm);
        Volatile.Write(ref _state, Waiting);
    }

    /// <summary>Marks it as having no caller any more.</summary>
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
            _registration.Unregister(); // does not wait: this may run in the cancellation callback
            OnDone();
            _lifetime?.Leave();
            return;
        }

        WakeSleeper();
    }

    /// <summary>
    /// Must be called after the state change to report. Barrier: a caller that goes to sleep later sees that change
    /// (counterpart in <see cref="Wait"/>).
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

    /// <summary>The task completed with the request; asynchronous requests only.</summary>
    public Task<TResult> Task => _completion?.Task ?? throw new InvalidOperationException("A blocking request has no task.");

    /// <summary>The result; throws the error if the request failed.</summary>
    public TResult Result
    {
        get
        {
            ThrowIfFailed();
            return _result!; // set by Run, without which no request succeeds
        }
    }

    /// <summary>Prepares it for submission.</summary>
    public void Begin(Func<WriteTransaction, TResult> command)
    {
        _command = command;
        Renew();
    }

    /// <summary>Drops its references before it is pooled.</summary>
    public void End()
    {
        _command = null;
        _result = default;
        Leave();
    }

    public override void Run(WriteTransaction transaction) => _result = _command!(transaction); // set by Begin

    protected override void OnDone()
    {
        if (Error is OperationCanceledException { CancellationToken: { IsCancellationRequested: true } token })
            _completion!.TrySetCanceled(token); // asynchronous requests have a completion source
        else if (Error is { } error)
            _completion!.TrySetException(error);
        else
            _completion!.TrySetResult(_result!);
    }
}
