using Treepie.Computations;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>
/// One run of a text over one document or group: what it is about, and how much it may do. What is counted are steps and
/// characters, not time, so that whether a document is indexed does not depend on how busy the machine is. One thread at a time.
/// </summary>
internal sealed class Run(IMapHost? host, Value source)
{
    /// <summary>Most steps: elements visited and functions called. Some tens of milliseconds.</summary>
    public const int MaxSteps = 1_000_000;

    /// <summary>Most characters of all texts that are made or looked through.</summary>
    public const long MaxCharacters = 64 * 1024 * 1024;

    /// <summary>Most characters of one text.</summary>
    public const int MaxTextLength = 16 * 1024 * 1024;

    private int _steps;
    private long _characters;

    /// <summary>The documents that <c>docs</c> stands for: the one that is mapped; or what <c>results</c> stands for.</summary>
    public Value Source { get; } = source;

    /// <summary>What may be looked at beside them.</summary>
    public IMapHost Host => host ?? throw new ComputingException("a reduce may not look at documents.");

    /// <summary>Counts a step.</summary>
    public void Step()
    {
        if (++_steps > MaxSteps)
            throw new ComputingException($"it takes more than {MaxSteps:N0} steps.");
    }

    /// <summary>Counts characters that are about to be made or looked through.</summary>
    public void Characters(long count)
    {
        Step();
        _characters += count;
        if (count > MaxTextLength)
            throw new ComputingException($"a text would have {count:N0} characters; {MaxTextLength:N0} is the most.");
        if (_characters > MaxCharacters)
            throw new ComputingException($"its texts have more than {MaxCharacters:N0} characters together.");
    }

    /// <summary>A text that was made.</summary>
    public Value Made(string text)
    {
        Characters(text.Length);
        return Value.Of(text);
    }

    /// <summary>The elements of a value, each of which is a step.</summary>
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
