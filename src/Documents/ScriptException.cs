namespace Treepie;

/// <summary>A script cannot be compiled, or failed while it ran; nothing of what it was part of was changed.</summary>
public sealed class ScriptException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public ScriptException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }

    /// <summary>Creates the error with the place in the script.</summary>
    /// <param name="message">What is wrong.</param>
    /// <param name="line">Line in the text that was given, from 1 on; 0: unknown.</param>
    /// <param name="column">Column in it, from 1 on; 0: unknown.</param>
    /// <param name="isSyntax">Whether the text is no script, and so was never run.</param>
    /// <param name="innerException">What it was.</param>
    public ScriptException(string message, int line, int column, bool isSyntax, Exception? innerException = null)
        : base(message, innerException)
    {
        Line = line;
        Column = column;
        IsSyntax = isSyntax;
    }

    /// <summary>Line in the script, from 1 on; 0: unknown.</summary>
    public int Line { get; }

    /// <summary>Column in the script, from 1 on; 0: unknown.</summary>
    public int Column { get; }

    /// <summary>Whether the text is no script, and so was never run.</summary>
    public bool IsSyntax { get; }
}
