using System.Diagnostics;

namespace Treepie.Storage.Transactions;

/// <summary>Requests in the order in which they ran, as an intrusive linked list, so that a batch allocates no list.</summary>
internal struct RequestList
{
    private WriteRequest? _last;

    /// <summary>The first request, or null.</summary>
    public WriteRequest? First { get; private set; }

    public readonly bool IsEmpty => First is null;

    public void Add(WriteRequest request)
    {
        Debug.Assert(_last is null == First is null, "a list has both ends or none");
        Debug.Assert(request != _last, "a request is in a list once");
        request.Next = null;
        if (_last is null)
            First = request;
        else
            _last.Next = request;
        _last = request;
    }

    /// <summary>Removes and returns all requests.</summary>
    public RequestList Take()
    {
        RequestList all = this;
        this = default;
        return all;
    }

    /// <summary>Sets the error of each request that has none.</summary>
    public readonly void Fail(Exception error)
    {
        for (WriteRequest? request = First; request is not null; request = request.Next)
            if (request.Error is null)
                request.Fail(error);
    }

    /// <summary>Completes all requests. Reads the next link first, because the caller may reuse a completed request.</summary>
    public readonly void Complete()
    {
        for (WriteRequest? request = First; request is not null;)
        {
            WriteRequest? next = request.Next;
            request.Complete();
            request = next;
        }
    }
}
