namespace Treepie;

/// <summary>Thrown when a query is not valid RQL, or uses something that is not supported.</summary>
public sealed class InvalidQueryException : TreepieException
{
    /// <summary>Creates the exception. Line and column are counted from 1; 0 if unknown.</summary>
    public InvalidQueryException(string message, int line = 0, int column = 0)
        : base(message)
    {
        Line = line;
        Column = column;
    }

    /// <summary>The line, counted from 1; 0 if unknown.</summary>
    public int Line { get; }

    /// <summary>The column in characters, counted from 1; 0 if unknown.</summary>
    public int Column { get; }
}
