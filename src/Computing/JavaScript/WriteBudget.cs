using Jint.Constraints;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// What writing one value of a script may take. The engine checks its limits between statements, and writing runs none: a value
/// that takes much to read and little to write would escape them. Not thread-safe.
/// </summary>
internal sealed class WriteBudget
{
    /// <summary>The number of values between two checks of time, memory and cancellation.</summary>
    private const int ValuesBetween = 256;

    /// <summary>
    /// The bytes that may be allocated for each byte that is written, as the buffer of the output doubles when it is full. They
    /// do not count as memory of the script.
    /// </summary>
    private const int BytesForEachWritten = 4;

    private readonly OperationDeadlineConstraint _deadline;
    private readonly long _maxMemoryBytes;
    private readonly int _maxBytes;
    private readonly long _allocatedBefore;
    private int _values;

    /// <param name="deadline">The time limit and cancellation of the call.</param>
    /// <param name="maxMemoryBytes">The maximum number of bytes allocated while the value is written.</param>
    /// <param name="maxBytes">The maximum size of the output, in bytes.</param>
    public WriteBudget(OperationDeadlineConstraint deadline, long maxMemoryBytes, int maxBytes)
    {
        (_deadline, _maxMemoryBytes, _maxBytes) = (deadline, maxMemoryBytes, maxBytes);
        _allocatedBefore = GC.GetAllocatedBytesForCurrentThread();
        _deadline.Check(); // one call may write many small values
    }

    /// <summary>Counts a value that was read; checks the limits at every 256th.</summary>
    /// <param name="writtenBytes">The size of the output so far, in bytes.</param>
    /// <exception cref="ScriptException">The output is too large, or writing it took too much memory.</exception>
    /// <exception cref="TimeoutException">The time of the call is over.</exception>
    /// <exception cref="OperationCanceledException">The call was canceled.</exception>
    public void Count(long writtenBytes)
    {
        if (writtenBytes > _maxBytes)
            throw new ScriptException($"What the script gives has more than {_maxBytes:N0} bytes.");
        if (++_values % ValuesBetween != 0)
            return;
        _deadline.Check();
        long allocated = GC.GetAllocatedBytesForCurrentThread() - _allocatedBefore;
        if (allocated - (BytesForEachWritten * writtenBytes) > _maxMemoryBytes)
            throw new ScriptException(
                $"Writing what the script gives took more than {_maxMemoryBytes:N0} bytes of memory, the limit for one "
                    + "document.");
    }
}
