using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Treepie.Json;

/// <summary>
/// A single pass over a document. Text is copied to the output in runs; a run ends at white space, which is dropped, and where
/// the output changes: <c>@metadata</c> goes to a separate buffer, and dropped members are not copied.
/// </summary>
/// <remarks>
/// Invariants: (1) all text before <see cref="_runStart"/> has been written or dropped; (2) <see cref="_depth"/> counts open
/// objects and arrays; (3) the output is the metadata buffer only inside the root's <c>@metadata</c>, and none only inside a
/// dropped member.
/// </remarks>
internal ref struct DocumentScan
{
    private readonly DocumentParser _parser;
    private readonly KeyScopes _keys;
    private readonly string _id;
    private readonly ReadOnlySpan<byte> _json;
    private readonly ReadOnlySpan<byte> _dropRootMember;
    private readonly Span<byte> _body;
    private Scope[] _scopes;
    private int _position;
    private int _runStart;
    private int _depth;
    private int _deepest;
    private int _bodyLength;
    private int _metadataLength;
    private Sink _sink;
    private bool _capturesCollection;
    private bool _memberDropped; // the member that just ended was removed, and so is its comma

    public DocumentScan(
        DocumentParser parser, string id, ReadOnlySpan<byte> json, Span<byte> output, ReadOnlySpan<byte> dropRootMember)
    {
        Debug.Assert(output.Length >= json.Length, "the output never needs more than the input");
        _parser = parser;
        _keys = parser.Keys;
        _scopes = parser.Scopes;
        _id = id;
        _json = json;
        _body = output;
        _dropRootMember = dropRootMember;
    }

    private enum Sink : byte
    {
        Body,
        Metadata,
        Nothing,
        DroppedFromBody,
    }

    private enum State : byte
    {
        FirstKeyOrEnd,
        Key,
        FirstElementOrEnd,
        Value,
        CommaOrEnd,
    }

    public ParsedDocument Run()
    {
        if (_json.StartsWith("\uFEFF"u8))
            _position = _runStart = 3; // a byte order mark, which some editors write
        SkipWhiteSpace();
        if (_position == _json.Length)
            Fail(_position, "there is no document. Send one JSON object; {} is the empty one.");
        if (_json[_position] != (byte)'{')
            Fail(
                _position,
                $"a document is a JSON object and begins with '{{', this begins with {Found()}. Put other values into a field of "
                    + $"an object.");

        Open(isArray: false);
        State state = State.FirstKeyOrEnd;
        while (_depth > 0)
        {
            SkipWhiteSpace();
            if (_position == _json.Length)
                Fail(_position, $"the text ends while {_depth} object(s) or array(s) are still open. Send the whole document.");
            state = Next(state, _json[_position]);
        }

        SkipWhiteSpace();
        if (_position != _json.Length)
            Fail(_position, $"the document has ended, but {Found()} follows. Send one document at a time.");
        Flush(_position);
        return Finish();
    }

    private State Next(State state, byte next)
    {
        switch (state)
        {
            case State.FirstKeyOrEnd when next == (byte)'}':
            case State.FirstElementOrEnd when next == (byte)']':
                return Close();
            case State.FirstKeyOrEnd:
            case State.Key:
                Key(next);
                return State.Value;
            case State.FirstElementOrEnd:
            case State.Value:
                return Value(next);
            default:
                return CommaOrEnd(next);
        }
    }

    private void Key(byte next)
    {
        if (next != (byte)'"')
            Fail(_position, $"a key in double quotes is expected, found {Found()}.");

        int start = _position;
        bool hasEscapes = String();
        int contentLength = _position - start - 2;
        if (!_keys.TryAdd(_json, start + 1, contentLength, hasEscapes))
        {
            string key = Encoding.UTF8.GetString(_json.Slice(start + 1, contentLength));
            Fail(
                start,
                $"the key '{key}' occurs twice in the same object. Each key may occur once: rename or remove one of them.");
        }

        int keyEnd = _position;
        SkipWhiteSpace();
        if (_position == _json.Length || _json[_position] != (byte)':')
            Fail(_position, $"a ':' is expected after a key, found {Found()}.");
        _position++;
        if (_depth <= 2)
            Redirect(start, keyEnd);
    }

    /// <summary>Checks whether the member whose key was read has another output than its parent.</summary>
    private void Redirect(int keyStart, int keyEnd)
    {
        if (_depth == 1)
        {
            ReadOnlySpan<byte> key = _keys.CurrentKey(0, _json);
            if (key.SequenceEqual(MetadataKeys.Metadata))
                DivertTo(Sink.Metadata, keyStart, keyEnd);
            else if (!_dropRootMember.IsEmpty && key.SequenceEqual(_dropRootMember))
                DivertTo(Sink.DroppedFromBody, keyStart, keyEnd);
        }
        else if (_sink == Sink.Metadata && _keys.Depth == 2)
        {
            ReadOnlySpan<byte> key = _keys.CurrentKey(1, _json);
            if (!MetadataKeys.IsGivenByDatabase(key) && !(_parser.DropsFlags && key.SequenceEqual(MetadataKeys.Flags)))
                return;
            _capturesCollection = key.SequenceEqual(MetadataKeys.Collection);
            DivertTo(Sink.Nothing, keyStart, keyEnd);
        }
    }

    private void DivertTo(Sink sink, int keyStart, int keyEnd)
    {
        if (_runStart <= keyStart)
            Flush(keyStart);
        // white space before the colon ended the run, so the key is already in the output: remove it
        else if (_sink == Sink.Body)
            _bodyLength -= keyEnd - keyStart;
        else
            _metadataLength -= keyEnd - keyStart;
        _sink = sink;
        _runStart = _position;
    }

    private State Value(byte next)
    {
        if (_depth == 1 && _sink == Sink.Metadata && next != (byte)'{')
            Fail(_position, $"@metadata must be an object, found {Found()}.");
        if (_capturesCollection && next is not ((byte)'"' or (byte)'n'))
            Fail(_position, $"@collection must be a string, found {Found()}.");

        ref Scope scope = ref _scopes[_depth - 1];
        scope.Index++;
        switch (next)
        {
            case (byte)'{':
                Open(isArray: false);
                return State.FirstKeyOrEnd;
            case (byte)'[':
                Open(isArray: true);
                return State.FirstElementOrEnd;
            case (byte)'"':
                int start = _position;
                bool hasEscapes = String();
                if (_capturesCollection)
                    CaptureCollection(start, hasEscapes);
                break;
            case (byte)'t':
                Pass(JsonTokens.Literal(_json, _position, "true"u8));
                break;
            case (byte)'f':
                Pass(JsonTokens.Literal(_json, _position, "false"u8));
                break;
            case (byte)'n':
                Pass(JsonTokens.Literal(_json, _position, "null"u8));
                break;
            case (byte)'-' or (>= (byte)'0' and <= (byte)'9'):
                Pass(JsonTokens.Number(_json, _position));
                break;
            default:
                Fail(_position, $"a value is expected, found {Found()}.");
                break;
        }

        EndOfValue();
        return State.CommaOrEnd;
    }

    private State CommaOrEnd(byte next)
    {
        bool inArray = _scopes[_depth - 1].IsArray;
        if (next == (byte)',')
        {
            _position++;
            if (_memberDropped)
            {
                _memberDropped = false; // the comma before the removed member precedes the next one
                _runStart = _position;
            }

            return inArray ? State.Value : State.Key;
        }

        if (next != (inArray ? (byte)']' : (byte)'}'))
            Fail(_position, $"',' or '{(inArray ? ']' : '}')}' is expected after a value, found {Found()}.");
        return Close();
    }

    private void Open(bool isArray)
    {
        if (_depth == _parser.MaxDepth)
        {
            Fail(
                _position,
                $"objects and arrays are nested deeper than {_parser.MaxDepth} (MaxDocumentDepth). Flatten the document, or open "
                    + $"the database with a higher limit.");
        }

        if (_depth == _scopes.Length)
        {
            Array.Resize(ref _scopes, _depth * 2);
            _parser.Scopes = _scopes;
        }

        _scopes[_depth++] = new Scope(isArray);
        _deepest = Math.Max(_deepest, _depth);
        if (!isArray)
            _keys.Open();
        _position++;
    }

    private State Close()
    {
        if (_memberDropped)
        {
            _memberDropped = false;
            TrimComma();
        }

        _position++;
        if (!_scopes[--_depth].IsArray)
            _keys.Close();
        EndOfValue();
        return State.CommaOrEnd;
    }

    /// <summary>Restores the output at the end of a member that was redirected or dropped.</summary>
    private void EndOfValue()
    {
        if (_sink == Sink.Body)
            return;
        if (_depth == 1)
        {
            Flush(_position);
            _sink = Sink.Body;
            _memberDropped = true;
        }
        else if (_depth == 2 && _sink == Sink.Nothing)
        {
            _runStart = _position;
            _sink = Sink.Metadata;
            _capturesCollection = false;
            _memberDropped = true;
        }
    }

    /// <summary>Skips a string, including its quotes. Returns whether it contains escapes.</summary>
    private bool String()
    {
        Pass(JsonTokens.String(_json, _position, out bool hasEscapes));
        return hasEscapes;
    }

    private void Pass(TokenEnd end)
    {
        if (end.Error is not null)
            Fail(end.Position, end.Error);
        _position = end.Position;
    }

    private readonly byte Peek() => _position < _json.Length ? _json[_position] : (byte)0;

    private void SkipWhiteSpace()
    {
        if (_position < _json.Length && _json[_position] > (byte)' ')
            return;

        int start = _position;
        while (Peek() is (byte)' ' or (byte)'\n' or (byte)'\r' or (byte)'\t')
            _position++;
        if (_position > start)
        {
            Flush(start);
            _runStart = _position;
        }
    }

    private void CaptureCollection(int start, bool hasEscapes)
    {
        ReadOnlySpan<byte> content = _json[(start + 1)..(_position - 1)];
        if (_parser.CollectionBuffer.Length < content.Length)
            _parser.CollectionBuffer = new byte[content.Length];
        if (hasEscapes)
        {
            _parser.CollectionLength = JsonStrings.Unescape(content, _parser.CollectionBuffer);
        }
        else
        {
            content.CopyTo(_parser.CollectionBuffer);
            _parser.CollectionLength = content.Length;
        }
    }

    private void Flush(int end)
    {
        ReadOnlySpan<byte> run = _json[_runStart..end];
        _runStart = end;
        switch (_sink)
        {
            case Sink.Body:
                run.CopyTo(_body[_bodyLength..]);
                _bodyLength += run.Length;
                break;
            case Sink.Metadata:
                if (_parser.MetadataBuffer.Length - _metadataLength < run.Length)
                {
                    byte[] larger = _parser.MetadataBuffer;
                    Array.Resize(ref larger, Math.Max(larger.Length * 2, _metadataLength + run.Length + 128));
                    _parser.MetadataBuffer = larger;
                }

                run.CopyTo(_parser.MetadataBuffer.AsSpan(_metadataLength));
                _metadataLength += run.Length;
                break;
        }
    }

    private void TrimComma()
    {
        if (_sink == Sink.Body)
        {
            if (_body[_bodyLength - 1] == (byte)',')
                _bodyLength--;
        }
        else if (_sink == Sink.Metadata && _parser.MetadataBuffer[_metadataLength - 1] == (byte)',')
        {
            _metadataLength--;
        }
    }

    private readonly ParsedDocument Finish()
    {
        int metadataLength = _metadataLength <= 2 ? 0 : _metadataLength; // an empty object is not stored
        Debug.Assert(_bodyLength + metadataLength <= _json.Length, "halves are never longer than the whole");
        _parser.MetadataBuffer.AsSpan(0, metadataLength).CopyTo(_body[_bodyLength..]);
        return new ParsedDocument(_bodyLength, metadataLength, _deepest);
    }

    private readonly string Found() => JsonErrors.Describe(_json, _position);

    [DoesNotReturn]
    private readonly void Fail(int offset, string what) => throw JsonErrors.At(_id, _json, offset, Path(), what);

    private readonly string Path()
    {
        var path = new StringBuilder("$");
        int objects = 0;
        for (int level = 0; level < _depth && !JsonErrors.IsLongEnough(path); level++)
        {
            if (_scopes[level].IsArray)
            {
                path.Append('[').Append(Math.Max(0, _scopes[level].Index - 1)).Append(']');
            }
            else if (_keys.CurrentKey(objects++, _json) is { IsEmpty: false } key)
            {
                path.Append('.').Append(Encoding.UTF8.GetString(key[..Math.Min(key.Length, 100)]));
            }
        }

        return JsonErrors.Shorten(path);
    }

    /// <summary>An open object or array.</summary>
    /// <param name="isArray">Whether it is an array.</param>
    internal struct Scope(bool isArray)
    {
        public readonly bool IsArray = isArray;

        /// <summary>The number of values begun in it.</summary>
        public int Index;
    }
}
