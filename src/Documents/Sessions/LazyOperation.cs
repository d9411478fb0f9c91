using System.Runtime.ExceptionServices;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>A lazy load or query, executed when its value or that of another lazy operation of the session is read.</summary>
internal abstract class LazyOperation
{
    /// <summary>Executes the operation; an exception is kept and thrown when its value is read.</summary>
    /// <param name="snapshot">Returns the snapshot for loads.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    public abstract Task RunAsync(Func<DatabaseSnapshot> snapshot, CancellationToken cancellationToken);
}

/// <summary>A <see cref="LazyOperation"/> with a value.</summary>
internal sealed class LazyOperation<T>(Func<Func<DatabaseSnapshot>, CancellationToken, Task<T>> run) : LazyOperation
{
    private T? _value;
    private ExceptionDispatchInfo? _error;

    /// <summary>The value, once the operation has been executed.</summary>
    public T Value
    {
        get
        {
            _error?.Throw();
            return _value!; // set, as the operation was executed
        }
    }

    public override async Task RunAsync(Func<DatabaseSnapshot> snapshot, CancellationToken cancellationToken)
    {
        try
        {
            _value = await run(snapshot, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception error)
        {
            _error = ExceptionDispatchInfo.Capture(error);
        }
    }
}
