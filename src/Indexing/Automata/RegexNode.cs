namespace Treepie.Indexing.Automata;

/// <summary>A part of a regular expression.</summary>
internal abstract record RegexNode;

/// <summary>One character of a set.</summary>
internal sealed record RegexSet(CharacterSet Set) : RegexNode;

/// <summary>A literal text.</summary>
internal sealed record RegexText(string Text) : RegexNode;

/// <summary>Several parts, one after another.</summary>
internal sealed record RegexSequence(IReadOnlyList<RegexNode> Parts) : RegexNode;

/// <summary>One of several alternatives.</summary>
internal sealed record RegexChoice(IReadOnlyList<RegexNode> Parts) : RegexNode;

/// <summary>A repetition; without a greatest number of times, it is unlimited.</summary>
internal sealed record RegexRepeat(RegexNode Body, int Least, int? Most) : RegexNode;

/// <summary>The start, or the end, of the term.</summary>
internal sealed record RegexAnchor(bool IsStart) : RegexNode;
