namespace Treepie;

/// <summary>
/// Thrown when a script cannot be compiled or fails at run time. Nothing of the operation it belongs to was changed.
/// </summary>
public sealed class ScriptException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public ScriptException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }

    /// <summary>Creates the exception with a position in the script.</summary>
    /// <param name="message">The error message.</param>
    /// <param name="line">The line in the given text, counted from 1; 0 if unknown.</param>
    /// <param name="column">The column, counted from 1; 0 if unknown.</param>
    /// <param name="isSyntax">Whether the script failed to compile and so was never run.</param>
    /// <param name="innerException">The cause.</param>
    public ScriptException(string message, int line, int column, bool isSyntax, Exception? innerException = null)
        : base(message, innerException)
    {
        Line = line;
        Column = column;
        IsSyntax = isSyntax;
    }

    /// <summary>The line in the script, counted from 1; 0 if unknown.</summary>
    public int Line { get; }

    /// <summary>The column in the script, counted from 1; 0 if unknown.</summary>
    public int Column { get; }

    /// <summary>Whether the script failed to compile and so was never run.</summary>
    public bool IsSyntax { get; }

    /// <summary>The text that the script threw: <c>throw 'skip'</c>; null if it threw something else, or nothing.</summary>
    internal string? Thrown { get; init; }
}
