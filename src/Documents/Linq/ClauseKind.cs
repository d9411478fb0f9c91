namespace Treepie.Linq;

/// <summary>How the outermost part of a <see cref="Clause"/> joins.</summary>
internal enum ClauseKind
{
    /// <summary>One condition.</summary>
    Single,

    /// <summary>Conditions joined by <c>and</c>.</summary>
    And,

    /// <summary>Conditions joined by <c>or</c>.</summary>
    Or,

    /// <summary>A negation.</summary>
    Not,
}
