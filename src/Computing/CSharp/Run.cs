using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using Treepie.Computations;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>
/// One run of compiled code over a document or group, with its source and its limits. Limits count steps and characters, not
/// time, so that whether a document is indexed does not depend on the load of the machine. Not thread-safe.
/// </summary>
internal sealed class Run(IMapHost? host, Value source)
{
    /// <summary>The maximum number of steps (elements visited and functions called): some tens of milliseconds.</summary>
    public const int MaxSteps = 1_000_000;

    /// <summary>The maximum number of characters of all strings created or scanned.</summary>
    public const long MaxCharacters = 64 * 1024 * 1024;

    /// <summary>The maximum number of characters of one string.</summary>
    public const int MaxTextLength = 16 * 1024 * 1024;

    /// <summary>The maximum number of characters of a pattern.</summary>
    public const int MaxPatternLength = 4_096;

    /// <summary>What compiling a pattern costs, in characters.</summary>
    private const int CharactersPerPattern = 64 * 1024;

    private readonly Dictionary<string, Regex> _patterns = new(StringComparer.Ordinal);
    private int _steps;
    private long _characters;

    /// <summary>
    /// The sequence that <c>docs</c> or <c>results</c> stands for: the mapped document, or the values to reduce.
    /// </summary>
    public Value Source { get; } = source;

    /// <summary>What a map may read apart from its document.</summary>
    public IMapHost Host => host ?? throw new ComputingException("a reduce may not look at documents.");

    /// <summary>
    /// Counts a step. Sequences may be built on one another more often than the stack can hold: that is an error, not the end of
    /// the process.
    /// </summary>
    public void Step()
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        if (++_steps > MaxSteps)
            throw new ComputingException($"it takes more than {MaxSteps:N0} steps.");
    }

    /// <summary>Counts characters that are about to be created or scanned.</summary>
    public void Characters(long count)
    {
        Step();
        _characters += count;
        if (count > MaxTextLength)
            throw new ComputingException($"a text would have {count:N0} characters; {MaxTextLength:N0} is the most.");
        if (_characters > MaxCharacters)
            throw new ComputingException($"its texts have more than {MaxCharacters:N0} characters together.");
    }

    /// <summary>Returns a created string as a value, counting its characters.</summary>
    public Value Made(string text)
    {
        Characters(text.Length);
        return Value.Of(text);
    }

    /// <summary>Returns a compiled pattern, which runs in linear time; compiles each pattern once.</summary>
    public Regex Pattern(string pattern)
    {
        if (_patterns.TryGetValue(pattern, out Regex? known))
            return known;
        if (pattern.Length > MaxPatternLength)
            throw new ComputingException($"a pattern has at most {MaxPatternLength:N0} characters.");
        Characters(CharactersPerPattern);
        try
        {
            return _patterns[pattern] = new Regex(pattern, RegexOptions.NonBacktracking | RegexOptions.CultureInvariant);
        }
        catch (Exception error) when (error is ArgumentException or NotSupportedException)
        {
            throw new ComputingException($"the pattern '{pattern}' cannot be used: {error.Message}");
        }
    }

    /// <summary>Returns the elements of a value, counting each as a step.</summary>
    public IEnumerable<Value> Each(Value value)
    {
        Step();
        foreach (Value item in value.Elements())
        {
            Step();
            yield return item;
        }
    }
}
