using System.Runtime.ExceptionServices;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>A load or a query that waits until it, or another one of the session, is asked for.</summary>
internal abstract class LazyOperation
{
    /// <summary>Runs it; its error is kept for whoever asks for its value.</summary>
    /// <param name="snapshot">Gives the state that loads see.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public abstract Task RunAsync(Func<DatabaseSnapshot> snapshot, CancellationToken cancellationToken);
}

/// <summary>As <see cref="LazyOperation"/>, with its value.</summary>
internal sealed class LazyOperation<T>(Func<Func<DatabaseSnapshot>, CancellationToken, Task<T>> run) : LazyOperation
{
    private T? _value;
    private ExceptionDispatchInfo? _error;

    /// <summary>Its value, once it was run.</summary>
    public T Value
    {
        get
        {
            _error?.Throw();
            return _value!; // it was run
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
