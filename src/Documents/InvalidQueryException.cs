namespace Treepie;

/// <summary>The text of a query is not valid RQL, or asks for what cannot be done.</summary>
public sealed class InvalidQueryException : TreepieException
{
    /// <summary>Creates the error; line and column count from 1, 0 where unknown.</summary>
    public InvalidQueryException(string message, int line = 0, int column = 0)
        : base(message)
    {
        Line = line;
        Column = column;
    }

    /// <summary>Line, from 1.</summary>
    public int Line { get; }

    /// <summary>Column in characters, from 1.</summary>
    public int Column { get; }
}
