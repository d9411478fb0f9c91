namespace Treepie.Linq;

/// <summary>The outermost operator of a <see cref="Clause"/>.</summary>
internal enum ClauseKind
{
    /// <summary>A single condition.</summary>
    Single,

    /// <summary>Conditions combined with <c>and</c>.</summary>
    And,

    /// <summary>Conditions combined with <c>or</c>.</summary>
    Or,

    /// <summary>A negation.</summary>
    Not,
}
