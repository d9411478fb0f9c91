using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text.Json;
using Jint;
using Jint.Native;
using Jint.Native.Object;
using Jint.Runtime;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// Computes the hash of what values of a script contain: equal for equal values, whether they have been read from JSON yet or
/// not. It needs no memory in proportion to a value. Not thread-safe.
/// </summary>
internal sealed class ContentHash : IDisposable
{
    private const int HashBytes = 16;

    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly byte[] _buffer = new byte[4_096];
    private int _length;
    private long _bytes;

    /// <summary>Returns the hash of a value as text.</summary>
    /// <param name="value">The value.</param>
    /// <param name="budget">What reading the value may take.</param>
    /// <exception cref="ScriptException">The value is too large, or takes too much memory.</exception>
    /// <exception cref="InsufficientExecutionStackException">The value is nested too deep, or refers to itself.</exception>
    public string Of(JsValue value, WriteBudget budget)
    {
        (_length, _bytes) = (0, 0);
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        try
        {
            Add(value, budget);
        }
        finally
        {
            Flush();
            _hash.GetHashAndReset(hash);
        }

        return Convert.ToHexString(hash[..HashBytes]);
    }

    public void Dispose() => _hash.Dispose();

    private void Add(JsValue value, WriteBudget budget)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        budget.Count(_bytes);
        switch (value)
        {
            case JsString text:
                AddText(text.ToString());
                break;
            case JsNumber number:
                AddNumber(number.AsNumber());
                break;
            case JsBoolean one:
                AddKind(one.AsBoolean() ? 't' : 'f');
                break;
            case JsDate date:
                AddKind('d');
                AddNumber(date.DateValue);
                break;
            case JsArray array:
                AddKind('[');
                for (uint i = 0; i < array.Length; i++)
                    Add(array[i], budget);
                AddKind(']');
                break;
            case LazyObject { IsText: true, IsUntouched: true } text:
                AddJson(text.Text, budget);
                break;
            case LazyObject { IsText: true } text:
                AddKind('{');
                foreach ((string name, ReadOnlyMemory<byte> json, JsValue? member) in text.Written())
                {
                    AddText(name);
                    if (member is null)
                        AddJson(json.Span, budget);
                    else
                        Add(member, budget);
                }

                AddKind('}');
                break;
            case ObjectInstance made and not Jint.Native.Function.Function:
                AddKind('{');
                foreach (JsValue key in made.GetOwnPropertyKeys(Types.String))
                {
                    budget.Count(_bytes);
                    if (made.GetOwnProperty(key) is not { Enumerable: true })
                        continue;
                    AddText(key.ToString());
                    Add(made.Get(key), budget);
                }

                AddKind('}');
                break;
            default:
                AddKind('n');
                break;
        }
    }

    private void AddJson(ReadOnlySpan<byte> json, WriteBudget budget)
    {
        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = ScriptJson.Reading.MaxDepth });
        while (reader.Read())
        {
            budget.Count(_bytes);
            switch (reader.TokenType)
            {
                case JsonTokenType.PropertyName or JsonTokenType.String:
                    AddText(ref reader);
                    break;
                case JsonTokenType.Number:
                    AddNumber(reader.GetDouble());
                    break;
                default:
                    AddKind(
                        reader.TokenType switch
                        {
                            JsonTokenType.StartObject => '{',
                            JsonTokenType.EndObject => '}',
                            JsonTokenType.StartArray => '[',
                            JsonTokenType.EndArray => ']',
                            JsonTokenType.True => 't',
                            JsonTokenType.False => 'f',
                            _ => 'n',
                        });
                    break;
            }
        }
    }

    private void AddText(ref Utf8JsonReader reader)
    {
        char[] text = ArrayPool<char>.Shared.Rent(reader.ValueSpan.Length);
        AddText(text.AsSpan(0, reader.CopyString(text)));
        ArrayPool<char>.Shared.Return(text);
    }

    private void AddText(ReadOnlySpan<char> text)
    {
        AddKind('s');
        Span<byte> length = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(length, text.Length);
        Add(length);
        Add(MemoryMarshal.AsBytes(text));
    }

    private void AddNumber(double number)
    {
        AddKind('#');
        Span<byte> bits = stackalloc byte[sizeof(double)];
        BinaryPrimitives.WriteDoubleLittleEndian(bits, number + 0d); // minus zero equals zero
        Add(bits);
    }

    private void AddKind(char kind) => Add([(byte)kind]);

    private void Add(ReadOnlySpan<byte> bytes)
    {
        _bytes += bytes.Length;
        if (bytes.Length > _buffer.Length - _length)
            Flush();
        if (bytes.Length > _buffer.Length)
        {
            _hash.AppendData(bytes);
            return;
        }

        bytes.CopyTo(_buffer.AsSpan(_length));
        _length += bytes.Length;
    }

    private void Flush()
    {
        _hash.AppendData(_buffer, 0, _length);
        _length = 0;
    }
}
