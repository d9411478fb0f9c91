using System.Diagnostics.CodeAnalysis;
using System.Runtime.ExceptionServices;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>A command on its way through the lane.</summary>
/// <remarks>States: waiting → running → done, or waiting → cancelled; running → waiting once, where the disk was full. Only the holder of the lane starts it; whoever has its batch completes it.</remarks>
internal abstract class WriteRequest
{
    private const int Waiting = 0;
    private const int Running = 1;
    private const int Done = 2;
    private const int Cancelled = 3;

    private int _state;
    private bool _isWoken;
    private bool _isAbandoned;

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

    /// <summary>Puts it back into waiting, to run a second time: nothing is left of the first. For the holder of the lane.</summary>
    public void PutBack()
    {
        IsRetry = true;
        Volatile.Write(ref _state, Waiting);
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
        Volatile.Write(ref _state, Done);
        Signal();
    }

    /// <summary>Lets the one who waits for it look at the lane; false if nobody waits any more.</summary>
    public bool TryWake()
    {
        lock (this)
        {
            if (_isAbandoned)
                return false;

            _isWoken = true;
            Monitor.PulseAll(this);
            return true;
        }
    }

    /// <summary>Blocks until it is done (false), or it is time to look at the lane (true).</summary>
    public bool Wait(IScheduler scheduler)
    {
        lock (this)
        {
            while (true)
            {
                if (_isWoken)
                {
                    _isWoken = false;
                    return true;
                }

                if (IsDone)
                {
                    _isAbandoned = true;
                    return false;
                }

                scheduler.Wait(this);
            }
        }
    }

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
            OnDone();
            return;
        }

        lock (this)
            Monitor.PulseAll(this);
    }
}

/// <summary>A command with a result.</summary>
[SuppressMessage("Maintainability", "CA1001", Justification = "The registration ends with the request.")]
internal sealed class WriteRequest<TResult> : WriteRequest
{
    private readonly Func<WriteTransaction, TResult> _command;
    private readonly TaskCompletionSource<TResult>? _completion;
    private TResult? _result;

    public WriteRequest(Func<WriteTransaction, TResult> command, bool isAsync)
    {
        _command = command;
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

    public override void Run(WriteTransaction transaction) => _result = _command(transaction);

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
